/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Files as Windows has them. Paths are UTF-8 outside and UTF-16 inside, always in the form \\?\C:\…, which has no
 * limit of 260 characters and in which no name means a device. */
#ifdef _WIN32

#include "file.h"

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "checked.h"
#include "mem.h"
#include "status.h"

#define READ_NBYTES ((size_t) 1 << 30) /* ReadFile's length is 32 bits */

/* "\\?\UNC\" and a zero. */
#define PREFIX_NCHARS 9

static int code_of(DWORD error) {
    switch (error) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_DIRECTORY: /* a part of the path is no folder */
        case ERROR_INVALID_NAME:
        case ERROR_INVALID_DRIVE:
        case ERROR_BAD_NETPATH:
        case ERROR_BAD_NET_NAME:
            return VCZC_ERR_NOT_FOUND;
        default:
            return VCZC_ERR_STORE;
    }
}

static int fail_path(DWORD error, const char *what, const char *path) {
    return vczi_fail(code_of(error), "cannot %s '%s': system error %lu", what, path, (unsigned long) error);
}

/* UTF-8 to UTF-16, zero-terminated; the caller frees it. */
static int to_wide(const char *text, WCHAR **wide) {
    const int nchars = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    *wide = NULL;
    if (nchars <= 0) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "the path '%s' is not UTF-8", text);
    }
    WCHAR *made = vczi_alloc_array((size_t) nchars, sizeof(*made));
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, made, nchars) != nchars) {
        vczi_free(made);
        return vczi_fail(VCZC_ERR_INTERNAL, "the path '%s' changed its length", text);
    }
    *wide = made;
    return 0;
}

/* UTF-16 to UTF-8; names that are not valid UTF-16 get replacement characters, and are then not found. */
static int to_utf8(const WCHAR *wide, char **text) {
    const int nbytes = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    *text = NULL;
    if (nbytes <= 0) {
        return vczi_fail(VCZC_ERR_STORE, "a name cannot be written as UTF-8");
    }
    char *made = vczi_alloc((size_t) nbytes);
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, made, nbytes, NULL, NULL) != nbytes) {
        vczi_free(made);
        return vczi_fail(VCZC_ERR_INTERNAL, "a name changed its length");
    }
    *text = made;
    return 0;
}

/* Put \\?\ (or \\?\UNC\ for \\server\…) before `full`, which GetFullPathName gave; in place, there is room. */
static void add_prefix(WCHAR *full) {
    const WCHAR *prefix = L"\\\\?\\";
    size_t nskipped = 0;
    if (full[0] == L'\\' && full[1] == L'\\') {
        if ((full[2] == L'?' || full[2] == L'.') && full[3] == L'\\') {
            return; /* has one already */
        }
        prefix = L"\\\\?\\UNC\\";
        nskipped = 2;
    }
    const size_t nprefix = wcslen(prefix);
    const size_t nrest = wcslen(full + nskipped) + 1;
    memmove(full + nprefix, full + nskipped, nrest * sizeof(*full));
    memcpy(full, prefix, nprefix * sizeof(*full));
}

/* The form of `path` that the system's calls get. The caller frees it. */
static int native_path(const char *path, WCHAR **native) {
    WCHAR *wide = NULL;
    WCHAR *full = NULL;
    DWORD nchars = 0;
    *native = NULL;
    if (path[0] == '\0') {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "the path is empty");
    }
    int ret = to_wide(path, &wide);
    if (ret != 0) goto out;
    nchars = GetFullPathNameW(wide, 0, NULL, NULL);
    if (nchars == 0) {
        ret = fail_path(GetLastError(), "resolve", path);
        goto out;
    }
    full = vczi_alloc_array((size_t) nchars + PREFIX_NCHARS, sizeof(*full));
    if (full == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
        goto out;
    }
    /* The working directory may have changed between the two calls, and the result with it. */
    if (GetFullPathNameW(wide, nchars, full, NULL) >= nchars) {
        ret = vczi_fail(VCZC_ERR_STORE, "the working directory changed");
        goto out;
    }
    add_prefix(full);
    *native = full;
    full = NULL;
out:
    vczi_free(wide);
    vczi_free(full);
    return ret;
}

int vczi_path_absolute(const char *path, char **absolute) {
    WCHAR *native = NULL;
    *absolute = NULL;
    int ret = native_path(path, &native);
    if (ret == 0) {
        const size_t nskipped =
            wcsncmp(native, L"\\\\?\\", 4) == 0 && native[5] == L':' ? 4 : 0; /* as users write it */
        ret = to_utf8(native + nskipped, absolute);
    }
    vczi_free(native);
    return ret;
}

int vczi_path_kind(const char *path, int *kind) {
    WCHAR *native = NULL;
    vczi_file_t file;
    *kind = VCZI_PATH_ABSENT;
    int ret = native_path(path, &native);
    if (ret == 0) {
        const DWORD attributes = GetFileAttributesW(native);
        if (attributes == INVALID_FILE_ATTRIBUTES) {
            ret = fail_path(GetLastError(), "look at", path);
        } else if (attributes & FILE_ATTRIBUTE_DIRECTORY) {
            *kind = VCZI_PATH_FOLDER;
        } else if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
            *kind = VCZI_PATH_FILE;
        } else { /* attributes are the link's: what it leads to is known by opening */
            ret = vczi_file_open(&file, path);
            *kind = ret == 0 ? VCZI_PATH_FILE : ret == VCZC_ERR_NOT_FOUND ? VCZI_PATH_ABSENT : VCZI_PATH_OTHER;
            vczi_file_close(&file);
            ret = 0;
        }
    }
    vczi_free(native);
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

static uint64_t join_words(DWORD high, DWORD low) {
    return (uint64_t) high << 32 | low;
}

/* 100 ns since 1601; only compared. */
static void set_time(const FILETIME *time, int64_t *sec, int64_t *ns) {
    const uint64_t ticks = join_words(time->dwHighDateTime, time->dwLowDateTime);
    *sec = (int64_t) (ticks / 10000000);
    *ns = (int64_t) (ticks % 10000000) * 100;
}

static int set_identity(vczi_file_t *file, HANDLE handle, const char *path) {
    BY_HANDLE_FILE_INFORMATION information;
    FILE_BASIC_INFO basic;
    if (!GetFileInformationByHandle(handle, &information) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof(basic))) {
        const DWORD error = GetLastError();
        return vczi_fail(VCZC_ERR_STORE, "cannot look at '%s': system error %lu", path, (unsigned long) error);
    }
    if (information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) {
        return vczi_fail(VCZC_ERR_STORE, "'%s' is not a regular file", path);
    }
    const FILETIME touched = {basic.ChangeTime.LowPart, (DWORD) basic.ChangeTime.HighPart};
    file->nbytes = join_words(information.nFileSizeHigh, information.nFileSizeLow);
    file->device = information.dwVolumeSerialNumber;
    file->inode = join_words(information.nFileIndexHigh, information.nFileIndexLow);
    file->nlinks = information.nNumberOfLinks;
    set_time(&information.ftLastWriteTime, &file->changed_sec, &file->changed_ns);
    set_time(&touched, &file->touched_sec, &file->touched_ns);
    return 0;
}

/* A folder opened as a file gives "access denied" without this look. */
static bool is_folder(const WCHAR *native) {
    const DWORD attributes = GetFileAttributesW(native);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

int vczi_file_open(vczi_file_t *file, const char *path) {
    const vczi_file_t closed = {0};
    WCHAR *native = NULL;
    HANDLE handle = INVALID_HANDLE_VALUE;
    *file = closed;
    int ret = native_path(path, &native);
    if (ret != 0) goto out;
    handle = CreateFileW(native, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                         OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        const DWORD error = GetLastError();
        ret = is_folder(native) ? vczi_fail(VCZC_ERR_STORE, "'%s' is not a regular file", path)
                                : fail_path(error, "open", path);
        goto out;
    }
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        ret = vczi_fail(VCZC_ERR_STORE, "'%s' is not a regular file", path);
        goto out;
    }
    ret = set_identity(file, handle, path);
    if (ret != 0) goto out;
    file->handle = (intptr_t) handle;
    handle = INVALID_HANDLE_VALUE;
out:
    if (handle != INVALID_HANDLE_VALUE) {
        (void) CloseHandle(handle);
    }
    vczi_free(native);
    return ret;
}

void vczi_file_close(vczi_file_t *file) {
    const vczi_file_t closed = {0};
    if (file->handle != 0) {
        (void) CloseHandle((HANDLE) file->handle);
    }
    *file = closed;
}

static int check_replaced(const vczi_file_t *file, const char *path) {
    vczi_file_t now;
    int ret = vczi_file_open(&now, path);
    if (ret == 0 && (now.device != file->device || now.inode != file->inode)) {
        ret = vczi_fail(VCZC_ERR_STORE, "'%s' was replaced by another file while it was open", path);
    }
    vczi_file_close(&now);
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

int vczi_file_check_unchanged(const vczi_file_t *file, const char *path) {
    vczi_file_t now = {0};
    const int ret = set_identity(&now, (HANDLE) file->handle, path);
    if (ret != 0) {
        return ret;
    }
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
        const uint64_t place = offset + (nbytes - left); /* within the file's size: cannot wrap */
        const DWORD wanted = (DWORD) (left < READ_NBYTES ? left : READ_NBYTES);
        OVERLAPPED at = {0}; /* of a handle that is not overlapped: only the place to read from */
        DWORD got = 0;
        at.Offset = (DWORD) (place & 0xffffffff);
        at.OffsetHigh = (DWORD) (place >> 32);
        if (!ReadFile((HANDLE) file->handle, next, wanted, &got, &at) && GetLastError() != ERROR_HANDLE_EOF) {
            const DWORD error = GetLastError();
            return vczi_fail(VCZC_ERR_STORE, "cannot read %zu bytes at %llu: system error %lu", nbytes,
                             (unsigned long long) offset, (unsigned long) error);
        }
        if (got == 0) {
            return fail_short(offset, nbytes, place);
        }
        next += got;
        left -= got;
    }
    return 0;
}

int vczi_file_map(const vczi_file_t *file, vczi_map_t *map) {
    const vczi_map_t none = {0};
    size_t nbytes = 0;
    *map = none;
    if (file->nbytes == 0) {
        return 0;
    }
    if (!vczi_u64_to_size(file->nbytes, &nbytes)) {
        return vczi_fail(VCZC_ERR_STORE, "a file of %llu bytes cannot be mapped here",
                         (unsigned long long) file->nbytes);
    }
    const HANDLE section = CreateFileMappingW((HANDLE) file->handle, NULL, PAGE_READONLY, 0, 0, NULL);
    void *start = section == NULL ? NULL : MapViewOfFile(section, FILE_MAP_READ, 0, 0, nbytes);
    const DWORD error = GetLastError();
    if (section != NULL) {
        (void) CloseHandle(section); /* the view holds it */
    }
    if (start == NULL) {
        return vczi_fail(VCZC_ERR_STORE, "cannot map a file of %zu bytes: system error %lu", nbytes,
                         (unsigned long) error);
    }
    map->map = start;
    map->map_nbytes = nbytes;
    map->span = vczi_span(start, nbytes);
    return 0;
}

void vczi_map_close(vczi_map_t *map) {
    const vczi_map_t none = {0};
    if (map->map != NULL) {
        (void) UnmapViewOfFile(map->map);
    }
    *map = none;
}

/* PrefetchVirtualMemory needs a newer system than the rest, and this is a hint only. */
void vczi_map_will_need(const vczi_map_t *map, size_t offset, size_t nbytes) {
    (void) map;
    (void) offset;
    (void) nbytes;
}

int vczi_folder_open(vczi_folder_t *folder, const char *path) {
    const vczi_folder_t closed = {0};
    int kind = VCZI_PATH_ABSENT;
    *folder = closed;
    int ret = vczi_path_kind(path, &kind);
    if (ret == 0 && kind != VCZI_PATH_FOLDER) {
        ret = vczi_fail(VCZC_ERR_NOT_FOUND, "there is no folder '%s'", path);
    }
    return ret != 0 ? ret : vczi_path_absolute(path, &folder->path);
}

void vczi_folder_close(vczi_folder_t *folder) {
    const vczi_folder_t closed = {0};
    vczi_free(folder->path);
    *folder = closed;
}

int vczi_folder_check(const vczi_folder_t *folder) {
    int kind = VCZI_PATH_ABSENT;
    const int ret = vczi_path_kind(folder->path, &kind);
    if (ret == 0 && kind != VCZI_PATH_FOLDER) {
        return vczi_fail(VCZC_ERR_STORE, "the folder was removed or moved while it was open");
    }
    return ret;
}

/* `folder/name`. Characters that would lead out of the folder, or to a stream of a file, are in no name here. */
static int join_path(const vczi_folder_t *folder, const char *name, char **joined) {
    const size_t folder_nbytes = strlen(folder->path);
    const size_t name_nbytes = strlen(name);
    size_t size = 2;
    *joined = NULL;
    if (name[0] == '/' || name[0] == '\0' || strpbrk(name, "\\:*?\"<>|") != NULL) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "'%s' is no name of a file in '%s'", name, folder->path);
    }
    if (!vczi_add_size(size, folder_nbytes, &size) || !vczi_add_size(size, name_nbytes, &size)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    char *made = vczi_alloc(size);
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    memcpy(made, folder->path, folder_nbytes);
    made[folder_nbytes] = '\\';
    memcpy(made + folder_nbytes + 1, name, name_nbytes + 1);
    *joined = made;
    return 0;
}

int vczi_folder_open_file(const vczi_folder_t *folder, const char *name, vczi_file_t *file) {
    const vczi_file_t closed = {0};
    char *path = NULL;
    *file = closed;
    int ret = join_path(folder, name, &path);
    if (ret == 0) {
        ret = vczi_file_open(file, path);
    }
    vczi_free(path);
    return ret;
}

int vczi_folder_file_size(const vczi_folder_t *folder, const char *name, uint64_t *nbytes) {
    vczi_file_t file;
    *nbytes = 0;
    const int ret = vczi_folder_open_file(folder, name, &file); /* attributes without it would be a link's own */
    if (ret == 0) {
        *nbytes = file.nbytes;
    }
    vczi_file_close(&file);
    return ret;
}

static int tell_entry(const char *folder_path, const WIN32_FIND_DATAW *entry, vczi_entry_fn tell, void *user) {
    char *name = NULL;
    char *path = NULL;
    int kind = entry->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? VCZI_PATH_FOLDER : VCZI_PATH_FILE;
    int ret = to_utf8(entry->cFileName, &name);
    if (ret == 0 && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)) {
        kind = VCZI_PATH_ABSENT;
    } else if (ret == 0 && (entry->dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        const vczi_folder_t folder = {0, (char *) (uintptr_t) folder_path}; /* only read */
        ret = join_path(&folder, name, &path);
        if (ret == 0 && vczi_path_kind(path, &kind) != 0) {
            kind = VCZI_PATH_OTHER;
        }
        kind = kind == VCZI_PATH_FOLDER ? VCZI_PATH_LINK : kind;
    }
    if (ret == 0 && kind != VCZI_PATH_ABSENT) {
        ret = tell(user, name, kind);
    }
    vczi_free(name);
    vczi_free(path);
    return ret;
}

static int list_entries(HANDLE listing, WIN32_FIND_DATAW *entry, const char *path, vczi_entry_fn tell, void *user) {
    for (;;) {
        const int ret = tell_entry(path, entry, tell, user);
        if (ret != 0) {
            return ret;
        }
        if (!FindNextFileW(listing, entry)) {
            const DWORD error = GetLastError();
            return error == ERROR_NO_MORE_FILES
                       ? 0
                       : vczi_fail(VCZC_ERR_STORE, "cannot list '%s': system error %lu", path, (unsigned long) error);
        }
    }
}

/* The pattern is put behind the native form: before that, `*` is in no name. */
static int native_pattern(const char *path, WCHAR **pattern) {
    WCHAR *native = NULL;
    *pattern = NULL;
    int ret = native_path(path, &native);
    if (ret == 0) {
        const size_t nchars = wcslen(native);
        const size_t nslash = nchars != 0 && native[nchars - 1] == L'\\' ? 0 : 1;
        WCHAR *made = vczi_realloc(native, nchars + 3, sizeof(*made));
        if (made == NULL) {
            ret = VCZC_ERR_NO_MEMORY;
        } else {
            native = NULL;
            memcpy(made + nchars, L"\\*" + (1 - nslash), (2 + nslash) * sizeof(*made));
            *pattern = made;
        }
    }
    vczi_free(native);
    return ret;
}

int vczi_folder_list(const vczi_folder_t *folder, const char *name, vczi_entry_fn tell, void *user) {
    WIN32_FIND_DATAW entry;
    WCHAR *pattern = NULL;
    char *path = NULL;
    HANDLE listing = INVALID_HANDLE_VALUE;
    int ret = name[0] == '\0' ? 0 : join_path(folder, name, &path);
    if (ret != 0) goto out;
    if (path == NULL) {
        path = vczi_copy_text(folder->path, strlen(folder->path));
        ret = path == NULL ? VCZC_ERR_NO_MEMORY : 0;
        if (ret != 0) goto out;
    }
    ret = native_pattern(path, &pattern);
    if (ret != 0) goto out;
    listing =
        FindFirstFileExW(pattern, FindExInfoBasic, &entry, FindExSearchNameMatch, NULL, FIND_FIRST_EX_LARGE_FETCH);
    if (listing == INVALID_HANDLE_VALUE) { /* every folder but a drive's root has at least "." and ".." */
        const DWORD error = GetLastError();
        int kind = VCZI_PATH_ABSENT;
        ret = error == ERROR_FILE_NOT_FOUND && vczi_path_kind(path, &kind) == 0 && kind == VCZI_PATH_FOLDER
                  ? 0
                  : fail_path(error, "list", path);
        goto out;
    }
    ret = list_entries(listing, &entry, path, tell, user);
out:
    if (listing != INVALID_HANDLE_VALUE) {
        (void) FindClose(listing);
    }
    vczi_free(pattern);
    vczi_free(path);
    return ret;
}

#else
typedef int vczi_file_windows_unused; /* C forbids an empty file */
#endif
