/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Files: open, identity, read by offset, map, list a folder. What is mapped and what is read is decided here.
 * Nothing moves a shared position, and nothing waits on a FIFO or a socket. */
#ifndef VCZI_FILE_H
#define VCZI_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

/* An open regular file. Zeroed is closed. */
typedef struct {
    intptr_t handle; /* descriptor + 1, or HANDLE; 0 where closed */
    uint64_t nbytes;
    uint64_t device, inode;          /* identity */
    int64_t changed_sec, changed_ns; /* time of the last change of content */
    int64_t touched_sec, touched_ns; /* of the last change of content, names or permissions */
    uint64_t nlinks;
} vczi_file_t;

/* An open folder, to open files relative to it wherever it is moved or the process changes directory. */
typedef struct {
    intptr_t handle; /* descriptor + 1; 0 where closed (Windows: always 0, `path` is used) */
    char *path;      /* absolute */
} vczi_folder_t;

/* A file's bytes, mapped or read. Zeroed holds nothing. */
typedef struct {
    vczi_span_t span;
    void *map; /* start of the mapping, or NULL */
    size_t map_nbytes;
} vczi_map_t;

/* VCZI_PATH_LINK is a folder that a link leads to: told by a listing alone. */
enum { VCZI_PATH_ABSENT = 0, VCZI_PATH_FILE = 1, VCZI_PATH_FOLDER = 2, VCZI_PATH_OTHER = 3, VCZI_PATH_LINK = 4 };

/* The absolute form of `path` (not resolved through links); the caller frees it with vczi_free. */
int vczi_path_absolute(const char *path, char **absolute);

/* What is at `path`, links followed: VCZI_PATH_… in *kind. Errors other than "not there" are VCZC_ERR_STORE. */
int vczi_path_kind(const char *path, int *kind);

/* Open a regular file. VCZC_ERR_NOT_FOUND where nothing is there, VCZC_ERR_STORE for all else (a folder, a FIFO, a
 * device, a socket, no permission, a loop of links, a name too long). Never blocks. */
int vczi_file_open(vczi_file_t *file, const char *path);
void vczi_file_close(vczi_file_t *file);

/* VCZC_ERR_STORE where the open file was truncated or written to since it was opened, or where another file has
 * taken its place at `path`. A file that was only unlinked is still good. One system call where nothing changed. */
int vczi_file_check_unchanged(const vczi_file_t *file, const char *path);

/* Read exactly [offset, offset + nbytes) into `out`; VCZC_ERR_STORE where the file ends before. */
int vczi_file_read(const vczi_file_t *file, uint64_t offset, void *out, size_t nbytes);

/* Map the whole file, read-only. An empty file gives an empty span. */
int vczi_file_map(const vczi_file_t *file, vczi_map_t *map);
void vczi_map_close(vczi_map_t *map);

/* Say that bytes [offset, offset + nbytes) of the map will be needed soon. A hint. */
void vczi_map_will_need(const vczi_map_t *map, size_t offset, size_t nbytes);

int vczi_folder_open(vczi_folder_t *folder, const char *path);
void vczi_folder_close(vczi_folder_t *folder);

/* VCZC_ERR_STORE where the folder was removed since it was opened: all that is asked of it is "not there" then. One
 * that was moved is still good (not so on Windows). One system call. */
int vczi_folder_check(const vczi_folder_t *folder);

/* As vczi_file_open, of `name` (parts separated by "/") relative to the folder. A part of the path that is no folder
 * means that the file is not there. */
int vczi_folder_open_file(const vczi_folder_t *folder, const char *name, vczi_file_t *file);

/* The size of `name` without opening it; errors as vczi_folder_open_file. */
int vczi_folder_file_size(const vczi_folder_t *folder, const char *name, uint64_t *nbytes);

/* Told one entry of a folder and VCZI_PATH_… (links followed); a non-zero result ends the listing. */
typedef int (*vczi_entry_fn)(void *user, const char *name, int kind);

/* List the entries of the sub-folder `name` ("" for the folder itself), without ".", ".." and links to nothing. A link
 * that leads back to a folder on the way to it is VCZI_PATH_OTHER, so that a walk ends (not so on Windows).
 * VCZC_ERR_NOT_FOUND where there is no such folder. */
int vczi_folder_list(const vczi_folder_t *folder, const char *name, vczi_entry_fn tell, void *user);

/* Values of at least so many bytes that are handed out are mapped, smaller ones read. What the library looks at itself
 * is always read: a file that is cut while a map of it is looked at ends the process by a signal. */
#define VCZI_FILE_MAP_NBYTES ((uint64_t) 1 << 20)

/* Values of at least so many bytes are read piece by piece where they may be: three pieces cost as much as reading
 * this. */
#define VCZI_FILE_PIECES_NBYTES ((uint64_t) 64 << 10)

#endif
