/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Files as POSIX systems have them. A chunk of a directory store costs openat, fstat, pread and close. */
#ifndef _WIN32

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH, madvise, d_type */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "checked.h"
#include "mem.h"
#include "status.h"

/* O_NONBLOCK: without it, opening a FIFO waits for a writer. Regular files take no notice of it. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Some systems refuse to read more than INT_MAX bytes at once. */
#define READ_NBYTES ((size_t) 1 << 30)

/* The longest working directory that is asked for: far more than any system has. */
#define CWD_NBYTES ((size_t) 1 << 20)

VCZI_STATIC_ASSERT(sizeof(off_t) >= 8, "places in files need 64 bits");

static int descriptor_of(intptr_t handle) {
    return (int) (handle - 1);
}

/* The folder to which names are relative. */
typedef struct {
    int descriptor;
    const char *path; /* "" for AT_FDCWD */
} base_t;

static const base_t base_none = {AT_FDCWD, ""};

static base_t base_of(const vczi_folder_t *folder) {
    const base_t base = {descriptor_of(folder->handle), folder->path};
    return base;
}

/* What a failed system call on `name` means: a path whose parts are not there is no error of the store's. */
static int fail_path(int error, const char *what, base_t base, const char *name) {
    const bool is_absent = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; /* no name is that long */
    const int code = is_absent ? VCZC_ERR_NOT_FOUND : VCZC_ERR_STORE;
    return vczi_fail_errno(code, error, "cannot %s '%s%s%s'", what, base.path, base.path[0] == '\0' ? "" : "/", name);
}

static int fail_kind(base_t base, const char *name) {
    return vczi_fail(VCZC_ERR_STORE, "'%s%s%s' is not a regular file", base.path, base.path[0] == '\0' ? "" : "/",
                     name);
}

static int open_retrying(int descriptor, const char *name, int flags) {
    int opened;
    do {
        opened = openat(descriptor, name, flags);
    } while (opened < 0 && errno == EINTR);
    return opened;
}

int vczi_path_absolute(const char *path, char **absolute) {
    const size_t path_nbytes = strlen(path);
    size_t size = 256;
    char *joined = NULL;
    *absolute = NULL;
    if (path[0] == '\0') {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "the path is empty");
    }
    if (path[0] == '/') {
        *absolute = vczi_copy_text(path, path_nbytes);
        return *absolute == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    for (;; size *= 2) {
        char *grown = vczi_realloc(joined, size + path_nbytes + 2, 1); /* and "/", and the zero byte */
        if (grown == NULL) {
            vczi_free(joined);
            return VCZC_ERR_NO_MEMORY;
        }
        joined = grown;
        if (getcwd(joined, size) != NULL) {
            break;
        }
        if (errno != ERANGE || size >= CWD_NBYTES) {
            const int error = errno;
            vczi_free(joined);
            return vczi_fail_errno(VCZC_ERR_STORE, error, "the working directory is not known");
        }
    }
    const size_t cwd_nbytes = strlen(joined);
    const size_t nslash = cwd_nbytes != 0 && joined[cwd_nbytes - 1] == '/' ? 0 : 1;
    memcpy(joined + cwd_nbytes, "/", nslash);
    memcpy(joined + cwd_nbytes + nslash, path, path_nbytes + 1);
    *absolute = joined;
    return 0;
}

static int kind_of(mode_t mode) {
    return S_ISREG(mode) ? VCZI_PATH_FILE : S_ISDIR(mode) ? VCZI_PATH_FOLDER : VCZI_PATH_OTHER;
}

int vczi_path_kind(const char *path, int *kind) {
    struct stat status;
    *kind = VCZI_PATH_ABSENT;
    if (stat(path, &status) != 0) {
        const int error = errno;
        const int ret = fail_path(error, "look at", base_none, path);
        return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
    }
    *kind = kind_of(status.st_mode);
    return 0;
}

static void set_identity(vczi_file_t *file, const struct stat *status) {
    file->nbytes = status->st_size < 0 ? 0 : (uint64_t) status->st_size;
    file->device = (uint64_t) status->st_dev;
    file->inode = (uint64_t) status->st_ino;
    file->nlinks = (uint64_t) status->st_nlink;
#ifdef __APPLE__
    file->changed_sec = (int64_t) status->st_mtimespec.tv_sec;
    file->changed_ns = (int64_t) status->st_mtimespec.tv_nsec;
    file->touched_sec = (int64_t) status->st_ctimespec.tv_sec;
    file->touched_ns = (int64_t) status->st_ctimespec.tv_nsec;
#else
    file->changed_sec = (int64_t) status->st_mtim.tv_sec;
    file->changed_ns = (int64_t) status->st_mtim.tv_nsec;
    file->touched_sec = (int64_t) status->st_ctim.tv_sec;
    file->touched_ns = (int64_t) status->st_ctim.tv_nsec;
#endif
}

static int open_file(base_t base, const char *name, vczi_file_t *file) {
    const vczi_file_t closed = {0};
    struct stat status;
    *file = closed;
    const int opened = open_retrying(base.descriptor, name, OPEN_FLAGS);
    if (opened < 0) {
        const int error = errno;
        return fail_path(error, "open", base, name);
    }
    if (fstat(opened, &status) != 0) {
        const int error = errno;
        (void) close(opened);
        return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot look at '%s'", name);
    }
    if (!S_ISREG(status.st_mode)) {
        (void) close(opened);
        return fail_kind(base, name);
    }
    set_identity(file, &status);
    file->handle = (intptr_t) opened + 1;
    return 0;
}

int vczi_file_open(vczi_file_t *file, const char *path) {
    return open_file(base_none, path, file);
}

void vczi_file_close(vczi_file_t *file) {
    const vczi_file_t closed = {0};
    if (file->handle != 0) {
        (void) close(descriptor_of(file->handle)); /* only read from: there is nothing that closing could lose */
    }
    *file = closed;
}

/* The file is as it was, but a name of it came or went: is another file at `path` now? */
static int check_replaced(const vczi_file_t *file, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        const int error = errno;
        const int ret = fail_path(error, "look at", base_none, path);
        return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
    }
    if ((uint64_t) status.st_dev != file->device || (uint64_t) status.st_ino != file->inode) {
        return vczi_fail(VCZC_ERR_STORE, "'%s' was replaced by another file while it was open", path);
    }
    return 0;
}

int vczi_file_check_unchanged(const vczi_file_t *file, const char *path) {
    struct stat status;
    vczi_file_t now = {0};
    if (fstat(descriptor_of(file->handle), &status) != 0) {
        const int error = errno;
        return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot look at '%s'", path);
    }
    set_identity(&now, &status);
    if (now.nbytes != file->nbytes || now.changed_sec != file->changed_sec || now.changed_ns != file->changed_ns) {
        return vczi_fail(VCZC_ERR_STORE, "'%s' was changed while it was open", path);
    }
    if (now.nlinks != file->nlinks || now.touched_sec != file->touched_sec || now.touched_ns != file->touched_ns) {
        return check_replaced(file, path);
    }
    return 0;
}

static int fail_short(uint64_t offset, size_t nbytes, uint64_t file_nbytes) {
    return vczi_fail(VCZC_ERR_STORE, "%zu bytes at %llu pass the end of the file, which has %llu", nbytes,
                     (unsigned long long) offset, (unsigned long long) file_nbytes);
}

int vczi_file_read(const vczi_file_t *file, uint64_t offset, void *out, size_t nbytes) {
    uint8_t *next = out;
    size_t left = nbytes;
    if (offset > file->nbytes || nbytes > file->nbytes - offset) {
        return fail_short(offset, nbytes, file->nbytes);
    }
    while (left != 0) {
        const size_t wanted = left < READ_NBYTES ? left : READ_NBYTES;
        /* The sum cannot wrap: it stays within the file's size, which came from an off_t. */
        const off_t place = (off_t) (offset + (nbytes - left));
        const ssize_t got = pread(descriptor_of(file->handle), next, wanted, place);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            const int error = errno;
            return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot read %zu bytes at %llu", nbytes,
                                   (unsigned long long) offset);
        }
        if (got == 0) {
            return fail_short(offset, nbytes, offset + (nbytes - left));
        }
        next += got;
        left -= (size_t) got;
    }
    return 0;
}

int vczi_file_map(const vczi_file_t *file, vczi_map_t *map) {
    const vczi_map_t none = {0};
    size_t nbytes = 0;
    *map = none;
    if (file->nbytes == 0) {
        return 0; /* mmap refuses a length of 0 */
    }
    if (!vczi_u64_to_size(file->nbytes, &nbytes)) {
        return vczi_fail(VCZC_ERR_STORE, "a file of %llu bytes cannot be mapped here",
                         (unsigned long long) file->nbytes);
    }
    void *start = mmap(NULL, nbytes, PROT_READ, MAP_PRIVATE, descriptor_of(file->handle), 0);
    if (start == MAP_FAILED) {
        const int error = errno;
        return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot map a file of %zu bytes", nbytes);
    }
    map->map = start;
    map->map_nbytes = nbytes;
    map->span = vczi_span(start, nbytes);
    return 0;
}

void vczi_map_close(vczi_map_t *map) {
    const vczi_map_t none = {0};
    if (map->map != NULL) {
        (void) munmap(map->map, map->map_nbytes);
    }
    *map = none;
}

void vczi_map_will_need(const vczi_map_t *map, size_t offset, size_t nbytes) {
    if (map->map == NULL || offset >= map->map_nbytes || nbytes == 0) {
        return;
    }
    const long page = sysconf(_SC_PAGESIZE);
    const size_t left = map->map_nbytes - offset;
    const size_t before = page > 0 ? offset % (size_t) page : 0; /* madvise wants the start of a page */
    const size_t hinted = (nbytes < left ? nbytes : left) + before;
    (void) madvise((uint8_t *) map->map + (offset - before), hinted, MADV_WILLNEED);
}

int vczi_folder_open(vczi_folder_t *folder, const char *path) {
    const vczi_folder_t closed = {0};
    char *absolute = NULL;
    *folder = closed;
    int ret = vczi_path_absolute(path, &absolute);
    if (ret != 0) {
        return ret;
    }
    int opened = open_retrying(AT_FDCWD, path, OPEN_FLAGS | O_DIRECTORY);
#ifdef O_PATH
    if (opened < 0 && errno == EACCES) { /* a folder that may not be listed still gives the files that it has */
        opened = open_retrying(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_DIRECTORY);
    }
#endif
    if (opened < 0) {
        const int error = errno;
        ret = fail_path(error, "open the folder", base_none, path);
        vczi_free(absolute);
        return ret;
    }
    folder->handle = (intptr_t) opened + 1;
    folder->path = absolute;
    return 0;
}

void vczi_folder_close(vczi_folder_t *folder) {
    const vczi_folder_t closed = {0};
    if (folder->handle != 0) {
        (void) close(descriptor_of(folder->handle));
    }
    vczi_free(folder->path);
    *folder = closed;
}

/* A folder that was removed has no name left, and on some systems not even the name "." in it. */
int vczi_folder_check(const vczi_folder_t *folder) {
    const base_t base = base_of(folder);
    struct stat status;
    const int error = fstatat(base.descriptor, ".", &status, 0) == 0 ? 0 : errno;
    if (error == ENOENT || (error == 0 && status.st_nlink == 0)) {
        return vczi_fail(VCZC_ERR_STORE, "the folder was removed while it was open");
    }
    return error == 0 ? 0 : vczi_fail_errno(VCZC_ERR_STORE, error, "cannot look at '%s'", base.path);
}

/* openat takes an absolute name as it is, and "" is no name: neither is in the folder. */
static int check_name(base_t base, const char *name) {
    if (name[0] == '/' || name[0] == '\0') {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "'%s' is no name of a file in '%s'", name, base.path);
    }
    return 0;
}

int vczi_folder_open_file(const vczi_folder_t *folder, const char *name, vczi_file_t *file) {
    const vczi_file_t closed = {0};
    const int ret = check_name(base_of(folder), name);
    if (ret != 0) {
        *file = closed;
        return ret;
    }
    return open_file(base_of(folder), name, file);
}

int vczi_folder_file_size(const vczi_folder_t *folder, const char *name, uint64_t *nbytes) {
    const base_t base = base_of(folder);
    struct stat status;
    *nbytes = 0;
    const int ret = check_name(base, name);
    if (ret != 0) {
        return ret;
    }
    if (fstatat(base.descriptor, name, &status, 0) != 0) {
        const int error = errno;
        return fail_path(error, "look at", base, name);
    }
    if (!S_ISREG(status.st_mode)) {
        return fail_kind(base, name);
    }
    *nbytes = status.st_size < 0 ? 0 : (uint64_t) status.st_size;
    return 0;
}

/* Whether the folder `name`, or one on the way from the base to it, is the one of `status`: a walk that followed a link
 * to it would come back here for ever. */
static bool is_on_the_way(base_t base, const char *name, const struct stat *status) {
    struct stat passed;
    char *path = vczi_copy_text(name, strlen(name));
    bool is_found = path == NULL || (fstat(base.descriptor, &passed) == 0 && passed.st_dev == status->st_dev &&
                                     passed.st_ino == status->st_ino);
    for (char *end = path; !is_found && *end != '\0';) {
        end += strcspn(end, "/");
        const char after = *end;
        *end = '\0';
        is_found = fstatat(base.descriptor, path, &passed, 0) == 0 && passed.st_dev == status->st_dev &&
                   passed.st_ino == status->st_ino;
        *end = after;
        end += strspn(end, "/");
    }
    vczi_free(path);
    return is_found;
}

/* Most file systems give the kind with the name; links, and the others, need a look. A link to nothing is absent. */
static int entry_kind(base_t base, const char *name, int descriptor, const struct dirent *entry) {
    struct stat status;
    if (entry->d_type == DT_REG) {
        return VCZI_PATH_FILE;
    }
    if (entry->d_type == DT_DIR) {
        return VCZI_PATH_FOLDER;
    }
    if (fstatat(descriptor, entry->d_name, &status, 0) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? VCZI_PATH_ABSENT : VCZI_PATH_OTHER;
    }
    if (!S_ISDIR(status.st_mode)) {
        return kind_of(status.st_mode);
    }
    return is_on_the_way(base, name, &status) ? VCZI_PATH_OTHER : VCZI_PATH_LINK;
}

static int list_entries(DIR *listing, base_t base, const char *name, vczi_entry_fn tell, void *user) {
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (entry == NULL && errno != 0) {
            const int error = errno;
            return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot list '%s/%s'", base.path, name);
        }
        if (entry == NULL) {
            return 0;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        const int kind = entry_kind(base, name, dirfd(listing), entry);
        const int ret = kind == VCZI_PATH_ABSENT ? 0 : tell(user, entry->d_name, kind);
        if (ret != 0) {
            return ret;
        }
    }
}

int vczi_folder_list(const vczi_folder_t *folder, const char *name, vczi_entry_fn tell, void *user) {
    const base_t base = base_of(folder);
    if (name[0] == '/') {
        return check_name(base, name);
    }
    /* A descriptor of its own: the position of a listing is shared by all who hold one. */
    const int opened = open_retrying(base.descriptor, name[0] == '\0' ? "." : name, OPEN_FLAGS | O_DIRECTORY);
    if (opened < 0) {
        const int error = errno;
        return fail_path(error, "list", base, name);
    }
    DIR *listing = fdopendir(opened);
    if (listing == NULL) {
        const int error = errno;
        (void) close(opened);
        return vczi_fail_errno(VCZC_ERR_STORE, error, "cannot list '%s/%s'", base.path, name);
    }
    const int ret = list_entries(listing, base, name, tell, user);
    (void) closedir(listing);
    return ret;
}

#else
typedef int vczi_file_posix_unused; /* C forbids an empty file */
#endif
