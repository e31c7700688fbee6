/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/*
 * libvczc: read VCF Zarr where it lies.
 *
 * Open a store (a directory, a zip archive, memory, or your own callbacks), open an array of it, and decode its
 * chunks into memory that you own. `pkg-config --cflags --libs vczc` says how to build it.
 *
 *     vczc_store_t *store = NULL;
 *     vczc_array_t *array = NULL;
 *     int64_t coords[VCZC_MAX_NDIM] = {0};            // of the first chunk
 *     void *out = NULL;
 *     int ret = vczc_store_open(&store, "cohort.vcz.zip", 0);
 *     if (ret == 0) ret = vczc_array_open(&array, store, "call_genotype");
 *     if (ret == 0) {
 *         const vczc_array_info_t *info = vczc_array_info(array); // what it is: shape, type, chunks
 *         out = malloc(info->chunk_nbytes);
 *         ret = vczc_array_read_block(array, coords, out, info->chunk_nbytes);
 *     }
 *     if (ret != 0) fprintf(stderr, "%s: %s\n", vczc_strerror(ret), vczc_error_detail());
 *     free(out);
 *     vczc_array_close(array);
 *     vczc_store_close(store);
 *
 * Rules that hold for every function:
 * - What can fail returns an int: 0, or a negative VCZC_ERR_…; the reason is in vczc_error_detail() of the same
 *   thread. @return names the codes to be expected. Nothing prints, exits or aborts, whatever the stored bytes say.
 * - `open` sets its output to NULL first and leaves it NULL on failure. Handles are immutable once open, may be shared
 *   among threads, survive fork, and may be closed in any order: what was opened from a store holds it.
 * - Memory that you give is never kept. Memory that vczc gives has one named function that frees it; results
 *   that are borrowed from a handle say so, and live as long as it.
 * - Functions may be called by any thread. Of a handle's users none may be inside a function when it is closed.
 * - Structs that begin with struct_nbytes are the caller's, and may grow at the end in later versions: set it to the
 *   sizeof of the struct, and zero what you do not use. Those that are borrowed from a handle may grow likewise. No
 *   other struct changes its size. A program runs with later versions of the same major number as it is.
 * - Where it does not say that a pointer may be NULL, what can fail refuses NULL as VCZC_ERR_ARGUMENT. What closes,
 *   frees, clears or releases does nothing with NULL. What only looks at a handle gives NULL, or 0, for NULL.
 * - Threads that decode, and the memory that a thread decodes with, stay for the next call, until vczc_trim or the end
 *   of the process (that memory: of the thread). libvczc.so stays loaded after dlclose; a plug-in that holds libvczc.a
 *   calls vczc_trim before it is unloaded.
 * - Text is UTF-8. Sizes are bytes unless the name says otherwise. Shapes, coordinates and rows are int64_t.
 */
#ifndef VCZC_H
#define VCZC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(VCZC_SHARED)
#ifdef VCZC_BUILD
#define VCZC_API __declspec(dllexport)
#else
#define VCZC_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define VCZC_API __attribute__((visibility("default")))
#else
#define VCZC_API
#endif

#define VCZC_VERSION_MAJOR 0
#define VCZC_VERSION_MINOR 1
#define VCZC_VERSION_PATCH 0

/** The most dimensions that an array may have. */
#define VCZC_MAX_NDIM 32

/** Status codes; 0 is success. */
enum {
    VCZC_ERR_NO_MEMORY = -1,      /**< memory could not be had */
    VCZC_ERR_ARGUMENT = -2,       /**< an argument makes no sense: NULL, a negative size, an unknown flag */
    VCZC_ERR_INDEX = -3,          /**< coordinates or a selection outside the array */
    VCZC_ERR_BUFFER = -4,         /**< the caller's buffer is too small */
    VCZC_ERR_NOT_FOUND = -5,      /**< no such path, key, attribute, sample or contig */
    VCZC_ERR_STORE = -6,          /**< the store cannot be opened or read, or it changed under the reader */
    VCZC_ERR_NO_NODE = -7,        /**< no group or array of that name, or a node of the other kind */
    VCZC_ERR_METADATA = -8,       /**< metadata that is not valid Zarr */
    VCZC_ERR_UNSUPPORTED = -9,    /**< valid Zarr that vczc does not read */
    VCZC_ERR_CORRUPT = -10,       /**< stored bytes that do not decode to what the metadata says */
    VCZC_ERR_MISSING_CHUNK = -11, /**< a chunk is absent, and the array was opened with VCZC_MISSING_IS_ERROR */
    VCZC_ERR_INTERNAL = -12,      /**< a fault of vczc itself; please report it */
    VCZC_ERR_CANCELLED = -13      /**< the caller's progress function asked for the end */
};

/** The lowest status code: every code is in [VCZC_ERR_LAST, -1]. */
#define VCZC_ERR_LAST VCZC_ERR_CANCELLED

/** What a code means, in a few words. @return static text; "unknown error" for what is no code. @since 0.1 */
VCZC_API const char *vczc_strerror(int code);

/** The reason of the calling thread's last failure, with its place: one line of text, valid until the thread's
 * next failure; "" where nothing has failed. Of use after a failure only: a call that succeeds may leave one that it
 * met on the way. @since 0.1 */
VCZC_API const char *vczc_error_detail(void);

/** The parts of the calling thread's last failure. Texts are "" where they do not apply. @since 0.1 */
typedef struct {
    int code;
    int ndim;              /**< items of coords; -1 where no chunk is named */
    const int64_t *coords; /**< of the chunk in the grid */
    const char *array;     /**< path of the array */
    const char *key;       /**< key of the chunk in the store */
    const char *reason;    /**< what went wrong, without the place */
} vczc_error_t;

/** Fill `error` with the parts of the thread's last failure; its pointers are valid until the next one. @since 0.1 */
VCZC_API void vczc_error_last(vczc_error_t *error);

/** For callbacks: give the reason of a failure. @return `code`, so that a callback can end with it. @since 0.1 */
VCZC_API int vczc_error_set(int code, const char *reason);

/** The version of the library, as "major.minor.patch". @return static text. @since 0.1 */
VCZC_API const char *vczc_version(void);

/* ---- Threads ---- */

/** How many threads one call may decode with, the calling one included: 1 to 4096, or 0 for the default, which is
 * VCZC_NUM_THREADS of the environment, else the processors that the process may run on. Where a call has an nthreads
 * of its own, 0 there stands for this number, more than 4096 for 4096. @return 0 or VCZC_ERR_ARGUMENT. @since 0.1 */
VCZC_API int vczc_set_threads(int nthreads);

/** The number in force. @since 0.1 */
VCZC_API int vczc_get_threads(void);

/* ---- Memory ---- */

/**
 * Memory for a large result: whole pages, huge ones where the system has them, of any content. Results may lie in any
 * other memory as well. Free with vczc_buffer_free.
 * @return NULL where there is no memory.  @since 0.1
 */
VCZC_API void *vczc_buffer_alloc(size_t nbytes);

/** Free what vczc_buffer_alloc gave; `nbytes` as asked for. It is kept for the next call within the bound of
 * vczc_set_buffer_pool. @since 0.1 */
VCZC_API void vczc_buffer_free(void *buffer, size_t nbytes);

/** How many bytes of freed buffers the process keeps for the next results: at first a sixteenth of the machine's
 * memory, 1 GiB at most; 0 for none. The system may take their content where it needs memory. @since 0.1 */
VCZC_API void vczc_set_buffer_pool(size_t nbytes);

/** The caller's own allocator. Called by several threads at once; it must not call vczc. */
typedef struct {
    size_t struct_nbytes;                                     /**< sizeof(vczc_allocator_t) of the caller's header */
    void *(*alloc)(void *user, size_t nbytes);                /**< as malloc; nbytes is never 0 */
    void *(*resize)(void *user, void *memory, size_t nbytes); /**< as realloc; memory is never NULL, nbytes never 0 */
    void (*release)(void *user, void *memory);                /**< as free; memory is never NULL */
    void *user;                                               /**< given to each of them */
} vczc_allocator_t;

/**
 * Take all memory from `allocator`, which is copied, but for pages of vczc_buffer_alloc, maps of files, and what the
 * C library takes for itself. To be called once, before any other function of the library: memory that was taken one
 * way cannot be freed the other.
 * @return 0, or VCZC_ERR_ARGUMENT where a function is NULL or memory has been taken already.  @since 0.1
 */
VCZC_API int vczc_set_allocator(const vczc_allocator_t *allocator);

/**
 * Give back what is kept between calls: idle threads end and are joined; the memory that threads decode with, yours
 * too, and the kept buffers of vczc_buffer_free are freed. Handles and calls under way go on with what they have, and
 * later calls start threads and take memory anew. May be called at any time, also by a callback or in a forked child.
 * Where no handle is open, nothing that vczc gave is held, and no call is under way, the library then has no thread and
 * no memory, and a plug-in that holds libvczc.a may be unloaded, whichever threads have called it; but none of them may
 * be ending at that moment. Its fork handlers go with it where the C library sees to that, as glibc does.  @since 0.1
 */
VCZC_API void vczc_trim(void);

/* ---- Stores ---- */

typedef struct vczc_store vczc_store_t;

/** Flags of vczc_store_open. */
enum {
    VCZC_OPEN_VERIFY = 1 /**< check an archive's CRC-32 when an entry is first read */
};

/** What a store is. */
enum { VCZC_STORE_DIRECTORY = 1, VCZC_STORE_ZIP = 2, VCZC_STORE_MEMORY = 3, VCZC_STORE_CALLBACKS = 4 };

/**
 * Open a directory or a zip archive (told apart by what is there, not by the name). `path` is UTF-8 (on POSIX: bytes
 * as they are); it is made absolute, so that a later change of directory does not matter. Where the only entry at the
 * top is one folder that holds the root, the store is that folder. `flags`: VCZC_OPEN_…, or 0.
 * @return 0, or VCZC_ERR_ARGUMENT, _NOT_FOUND, _STORE, _UNSUPPORTED, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_store_open(vczc_store_t **store, const char *path, uint32_t flags);

/** One entry of a store in memory. */
typedef struct {
    const char *key; /**< zero-terminated, parts separated by "/" */
    const void *data;
    size_t nbytes;
} vczc_entry_t;

/**
 * Open a store of `nentries` entries in memory. Keys and bytes are copied; the last of equal keys counts. Where all
 * lie in one folder, that is the store, as of vczc_store_open.
 * @return 0, or VCZC_ERR_ARGUMENT, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_store_open_memory(vczc_store_t **store, const vczc_entry_t *entries, size_t nentries);

/**
 * Open a zip archive that lies in memory. The bytes are borrowed: they must outlive the store and its arrays.
 * @return as vczc_store_open.  @since 0.1
 */
VCZC_API int vczc_store_open_zip_memory(vczc_store_t **store, const void *data, size_t nbytes, uint32_t flags);

/** Told one key (or name) of a listing; not zero-terminated, valid during the call. A non-zero result ends the
 * listing and is what the listing returns. */
typedef int (*vczc_list_fn)(void *user, const char *key, size_t key_nbytes);

/**
 * The caller's own storage. Every function may be called by several threads at once, and never while vczc holds a
 * lock; keys and prefixes are zero-terminated. Each returns 0, VCZC_ERR_NOT_FOUND where there is no such key, or
 * another negative code after vczc_error_set: only "not found" makes a chunk absent.
 */
typedef struct {
    size_t struct_nbytes; /**< sizeof(vczc_callbacks_t) of the caller's header */
    /** Give bytes [offset, offset + nbytes) of `key`, and no fewer; or all of them where nbytes is SIZE_MAX (offset is
     * then 0). *data stays valid until `release` is called with *pin. */
    int (*get)(void *user, const char *key, uint64_t offset, size_t nbytes, const void **data, size_t *data_nbytes,
               void **pin);
    /** Release what `get` pinned, once for each `get` that succeeded, in any thread, also where it pinned nothing
     * (`pin` is then NULL); may be NULL itself where nothing ever needs releasing. */
    void (*release)(void *user, void *pin);
    /** The size of `key`; may be NULL: then `get` is called. */
    int (*size)(void *user, const char *key, uint64_t *nbytes);
    /** Tell every key that begins with `prefix` ("" for all), and return what `tell` returned as soon as that is not 0.
     * A key that is told twice is listed and counted twice. May be NULL: then groups are listed by their consolidated
     * metadata alone. */
    int (*list)(void *user, const char *prefix, vczc_list_fn tell, void *tell_user);
    /** Called once, when the store and all its arrays are closed; may be NULL. */
    void (*close)(void *user);
    /** Non-zero where a request is dear: consolidated metadata then serves instead of each node's own document, and the
     * store is opened at its top without a look for a sole folder there. */
    int prefer_consolidated;
    /** Tell the names directly under `folder` ("" or "a/b/"), of files and folders, each at least once; may be NULL:
     * then `list` is called, which tells all keys below it, often many more. */
    int (*list_folder)(void *user, const char *folder, vczc_list_fn tell, void *tell_user);
} vczc_callbacks_t;

/**
 * Open a store on the caller's functions, which are copied; `user` is given to each. `name` is what errors call the
 * store; it may be NULL. On failure `close` is not called.
 * @return 0, or VCZC_ERR_ARGUMENT, _NO_MEMORY, or what the callbacks return.  @since 0.1
 */
VCZC_API int vczc_store_open_callbacks(vczc_store_t **store, const vczc_callbacks_t *callbacks, void *user,
                                       const char *name);

/** Let go of the store; it ends with the last of its arrays, nodes and pinned bytes. @since 0.1 */
VCZC_API void vczc_store_close(vczc_store_t *store);

/** VCZC_STORE_… @since 0.1 */
VCZC_API int vczc_store_kind(const vczc_store_t *store);

/** The absolute path (or the name) that errors call the store by. Borrowed. @since 0.1 */
VCZC_API const char *vczc_store_location(const vczc_store_t *store);

/** The folder inside the store that its keys are relative to: "" or, of a wrapped archive, "name/". @since 0.1 */
VCZC_API const char *vczc_store_prefix(const vczc_store_t *store);

/** Stored bytes, pinned until they are released. Zeroed, it holds nothing. */
typedef struct {
    const void *data;
    size_t nbytes;
    void *pin;           /**< vczc's */
    vczc_store_t *store; /**< vczc's: held while pinned */
} vczc_bytes_t;

/**
 * The bytes of `key`: a view of the map where the store is mapped, else a copy. Release with vczc_bytes_release.
 * A look at a view of a file that has been cut since ends the process by a signal (SIGBUS), as it does of any map.
 * On failure `bytes` is zeroed.
 * @return 0, or VCZC_ERR_ARGUMENT, _NOT_FOUND, _STORE, _CORRUPT, _UNSUPPORTED, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_store_get(vczc_store_t *store, const char *key, vczc_bytes_t *bytes);

/** Release, and zero; a zeroed one may be released again. @since 0.1 */
VCZC_API void vczc_bytes_release(vczc_bytes_t *bytes);

/** The size of `key` as read (not as stored in an archive). @return as vczc_store_get. @since 0.1 */
VCZC_API int vczc_store_size(vczc_store_t *store, const char *key, uint64_t *nbytes);

/** Tell every key that begins with `prefix` ("" for all), each once, in no order that is promised.
 * @return 0, what `tell` returned, or VCZC_ERR_STORE, _UNSUPPORTED, _NO_MEMORY. @since 0.1 */
VCZC_API int vczc_store_list(vczc_store_t *store, const char *prefix, vczc_list_fn tell, void *user);

/* ---- Nodes: groups and arrays ---- */

typedef struct vczc_node vczc_node_t;

enum { VCZC_NODE_GROUP = 1, VCZC_NODE_ARRAY = 2 };

/** What a node's documents say. Borrowed from the node; fields may be added at the end. @since 0.1 */
typedef struct {
    int kind; /**< VCZC_NODE_… */
    int zarr_format;
    const char *path;     /**< "" for the root, no slash at the ends */
    const char *document; /**< .zarray, .zgroup or zarr.json, as JSON text (with NaN and Infinity as Python has them) */
    size_t document_nbytes;
    const char *attributes; /**< as JSON text; "{}" where there are none */
    size_t attributes_nbytes;
} vczc_node_info_t;

/**
 * Open the group or array at `path`: "" is the root, else names with "/" between them.
 * @return 0, or VCZC_ERR_ARGUMENT, _NO_NODE, _METADATA, _STORE, _UNSUPPORTED, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_node_open(vczc_node_t **node, vczc_store_t *store, const char *path);

/** @since 0.1 */
VCZC_API void vczc_node_close(vczc_node_t *node);

/** What the node is. Borrowed. @since 0.1 */
VCZC_API const vczc_node_info_t *vczc_node_info(const vczc_node_t *node);

/** The type of a value of JSON. */
enum {
    VCZC_JSON_ABSENT = 0, /**< there is no such attribute */
    VCZC_JSON_NULL = 1,
    VCZC_JSON_BOOL = 2,
    VCZC_JSON_INTEGER = 3,
    VCZC_JSON_REAL = 4,
    VCZC_JSON_TEXT = 5,
    VCZC_JSON_ARRAY = 6,
    VCZC_JSON_OBJECT = 7
};

/** The type of attribute `key`, VCZC_JSON_…, into *type. @return 0, or VCZC_ERR_ARGUMENT, _NO_MEMORY. @since 0.1 */
VCZC_API int vczc_node_attr_type(const vczc_node_t *node, const char *key, int *type);

/**
 * Attribute `key` as an integer (a boolean is 0 or 1). *value is left alone on failure.
 * @return 0, VCZC_ERR_NOT_FOUND where there is no such attribute, VCZC_ERR_METADATA where it is of another type or an
 * integer too large, or _ARGUMENT, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_node_attr_int(const vczc_node_t *node, const char *key, int64_t *value);

/** The same for any number; NaN and infinities too. @since 0.1 */
VCZC_API int vczc_node_attr_double(const vczc_node_t *node, const char *key, double *value);

/**
 * Attribute `key`, which must be a text. *text is zero-terminated UTF-8, to be freed with vczc_text_free, and NULL on
 * failure; its length goes to *nbytes unless that is NULL.
 * @return as vczc_node_attr_int.  @since 0.1
 */
VCZC_API int vczc_node_attr_text(const vczc_node_t *node, const char *key, char **text, size_t *nbytes);

/** Attribute `key`, of any type, as JSON text, for lists and objects; otherwise as vczc_node_attr_text. @since 0.1 */
VCZC_API int vczc_node_attr_json(const vczc_node_t *node, const char *key, char **text, size_t *nbytes);

/** Tell the keys of all attributes, in the order of the document. @return 0, what `tell` returned, or
 * VCZC_ERR_ARGUMENT, _NO_MEMORY. @since 0.1 */
VCZC_API int vczc_node_attr_keys(const vczc_node_t *node, vczc_list_fn tell, void *user);

/** Free a text that vczc gave to be freed so. @since 0.1 */
VCZC_API void vczc_text_free(char *text);

/** Told one child of a group: its name (no slash, not zero-terminated) and VCZC_NODE_…; as vczc_list_fn. */
typedef int (*vczc_child_fn)(void *user, const char *name, size_t name_nbytes, int kind);

/**
 * Tell the children of a group, by name in byte order. Files and folders that are no nodes are passed over.
 * @return 0, what `tell` returned, or VCZC_ERR_NO_NODE (an array has none), _UNSUPPORTED (the store cannot be listed),
 * _STORE, _METADATA, _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_node_children(const vczc_node_t *node, vczc_child_fn tell, void *user);

/* ---- Arrays ---- */

typedef struct vczc_array vczc_array_t;

/** The type of an item. The number of each is fixed. */
enum {
    VCZC_BOOL = 1,
    VCZC_INT8 = 2,
    VCZC_INT16 = 3,
    VCZC_INT32 = 4,
    VCZC_INT64 = 5,
    VCZC_UINT8 = 6,
    VCZC_UINT16 = 7,
    VCZC_UINT32 = 8,
    VCZC_UINT64 = 9,
    VCZC_FLOAT16 = 10,
    VCZC_FLOAT32 = 11,
    VCZC_FLOAT64 = 12,
    VCZC_FIXED_BYTES = 13, /**< `S<n>`: n bytes, zeros at the end */
    VCZC_FIXED_UTF32 = 14, /**< `U<n>`: n code points of 4 bytes, zeros at the end */
    VCZC_VLEN_UTF8 = 15,   /**< text of any length: read with vczc_array_read_strings */
    VCZC_VLEN_BYTES = 16,  /**< bytes of any length: likewise */
    VCZC_COMPLEX64 = 17,   /**< two floats, the real part first. @since 0.1 */
    VCZC_COMPLEX128 = 18,  /**< two doubles, the real part first. @since 0.1 */
    VCZC_RAW = 19,         /**< `itemsize` bytes that mean nothing here. @since 0.1 */
    VCZC_DATETIME64 = 20,  /**< int64, steps of info->time_unit since 1970; INT64_MIN is no time. @since 0.1 */
    VCZC_TIMEDELTA64 = 21  /**< int64, steps of info->time_unit; INT64_MIN is no time. @since 0.1 */
};

/** Flags of vczc_array_open_flags. */
enum {
    VCZC_MISSING_IS_ERROR = 1, /**< an absent chunk is VCZC_ERR_MISSING_CHUNK instead of the fill value */
    VCZC_STORED_ONLY = 2,      /**< open it whatever its codecs are: stored bytes can be had, nothing is decoded */
    VCZC_STORED_COPY = 4 /**< vczc_array_stored gives copies, never views of a map: for who decodes them. @since 0.1 */
};

/** What an array is. Borrowed from the array; fields may be added at the end. @since 0.1 */
typedef struct {
    int ndim;         /**< 0 to VCZC_MAX_NDIM; shape, chunks, shards, grid and dims have so many items */
    int dtype;        /**< VCZC_BOOL … */
    int64_t itemsize; /**< bytes of an item in memory; 0 for text and bytes of variable length */
    const int64_t *shape;
    const int64_t *chunks; /**< shape of a chunk (of a shard: an inner one); 0 may stand where shape has 0 */
    const int64_t *shards; /**< shape of a shard, or NULL */
    const int64_t *grid;   /**< chunks along each axis */
    int64_t nchunks;       /**< product of grid */
    int64_t chunk_nbytes;  /**< a full chunk, decoded: room for any block; 0 for variable length */
    const void *fill;      /**< one item in native byte order; of variable length: its bytes */
    size_t fill_nbytes;
    int fill_is_null; /**< the document has no fill value (null): absent chunks are then zero, False, "", no time */
    char order;       /**< 'C' or 'F': the layout inside a stored chunk. Results are always in C order */
    char stored_byte_order; /**< '<', '>' or '|' */
    int zarr_format;
    const char *path;
    const char *const *dims; /**< dimension names, or NULL; an item may be NULL */
    const char *time_unit;   /**< of times: "D", "s", "ns" …, "generic" where there is none; else NULL. @since 0.1 */
    int64_t time_scale;      /**< how many of those one step is; 0 where there is no unit. @since 0.1 */
} vczc_array_info_t;

/**
 * Open the array at `path`. While it is open it keeps up to 32 MiB of what it decompressed for small requests, so that
 * rows beside the last ones cost little.
 * @return as vczc_node_open; _NO_NODE where a group is there.  @since 0.1
 */
VCZC_API int vczc_array_open(vczc_array_t **array, vczc_store_t *store, const char *path);

/** The same with flags (VCZC_MISSING_IS_ERROR, VCZC_STORED_…) and a ceiling on a decoded chunk in bytes (0: the
 * default, 16 GiB). A description that claims a larger chunk is VCZC_ERR_METADATA. @since 0.1 */
VCZC_API int vczc_array_open_flags(vczc_array_t **array, vczc_store_t *store, const char *path, uint32_t flags,
                                   int64_t max_chunk_nbytes);

/** @since 0.1 */
VCZC_API void vczc_array_close(vczc_array_t *array);

/** What the array is. Borrowed. @since 0.1 */
VCZC_API const vczc_array_info_t *vczc_array_info(const vczc_array_t *array);

/** The node that the array was opened from, for its attributes: borrowed, and not to be closed. @since 0.1 */
VCZC_API const vczc_node_t *vczc_array_node(const vczc_array_t *array);

/** The documents of that node. Borrowed. @since 0.1 */
VCZC_API const vczc_node_info_t *vczc_array_node_info(const vczc_array_t *array);

/**
 * The shape of one block: the chunk at `coords` (info->ndim items), trimmed at the array's edges.
 * @return 0, or VCZC_ERR_INDEX where coords lie outside the grid.  @since 0.1
 */
VCZC_API int vczc_array_block_shape(const vczc_array_t *array, const int64_t *coords, int64_t *shape);

/**
 * Decode one chunk of `array`, trimmed at the edges, into `out`: items of info->dtype, C order, native byte order.
 * `coords` has info->ndim items, each below that of info->grid; an absent chunk gives the fill value. On failure the
 * content of `out` is undefined, but no byte past the block's own size (and none past `out_size`) is ever written,
 * whatever the stored bytes say.
 * @return 0, or VCZC_ERR_INDEX, _BUFFER, _STORE, _CORRUPT, _MISSING_CHUNK, _UNSUPPORTED, _NO_MEMORY, or _ARGUMENT,
 * also where items are of variable length (vczc_array_read_strings).  @since 0.1
 */
VCZC_API int vczc_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_size);

/**
 * Decode the box [start, stop) into `out`, whose item (i, j, …) lies `out_strides[0] * i + out_strides[1] * j + …`
 * bytes from `out`. Strides may be of any sign and size, so long as no two items overlap; NULL is C order without gaps.
 * Items are of info->dtype: look at it before you lay out the memory, whose size is not told.
 * `start`, `stop` and `out_strides` have info->ndim items. Only what is needed of each chunk is decoded.
 * @return as vczc_array_read_block; _INDEX where the box is not inside the array, _ARGUMENT where strides lead further
 * than an int64_t counts.  @since 0.1
 */
VCZC_API int vczc_array_read_region(const vczc_array_t *array, const int64_t *start, const int64_t *stop, void *out,
                                    const int64_t *out_strides);

/** A selection of a box with steps, and how to read it. */
typedef struct {
    const int64_t *start;
    const int64_t *stop;
    const int64_t *step; /**< each at least 1, of any length; NULL: all 1 */
    int nthreads;        /**< 0: as vczc_set_threads says */
} vczc_selection_t;

/** vczc_array_read_region with steps: item k of an axis is start + k * step, while that is below stop. @since 0.1 */
VCZC_API int vczc_array_read_selection(const vczc_array_t *array, const vczc_selection_t *selection, void *out,
                                       const int64_t *out_strides);

/** Text or bytes of variable length: item i is data[offsets[i] .. offsets[i + 1]), not zero-terminated. C order. */
typedef struct {
    int64_t nitems;
    int64_t *offsets; /**< nitems + 1, the first 0 */
    char *data;       /**< valid UTF-8 where the array is VCZC_VLEN_UTF8 */
    int64_t data_nbytes;
    int64_t max_item_nbytes; /**< of the longest item */
} vczc_strings_t;

/**
 * The text of one block, as vczc_array_read_block. Free with vczc_strings_clear; zeroed on failure.
 * @return as vczc_array_read_block; _ARGUMENT where the array is not of variable length.  @since 0.1
 */
VCZC_API int vczc_array_read_strings(const vczc_array_t *array, const int64_t *coords, vczc_strings_t *strings);

/** The text of a selection, as vczc_array_read_selection. @since 0.1 */
VCZC_API int vczc_array_read_strings_selection(const vczc_array_t *array, const vczc_selection_t *selection,
                                               vczc_strings_t *strings);

/** Free, and zero; a zeroed one may be cleared again. @since 0.1 */
VCZC_API void vczc_strings_clear(vczc_strings_t *strings);

/**
 * The stored bytes of one chunk (of a sharded array: of the inner chunk), not decoded.
 * Release with vczc_bytes_release; zeroed on failure.
 * @return 0, VCZC_ERR_NOT_FOUND where the chunk is absent, or as vczc_store_get.  @since 0.1
 */
VCZC_API int vczc_array_stored(const vczc_array_t *array, const int64_t *coords, vczc_bytes_t *bytes);

/** Write the key of the chunk at `coords` into `key` (zero-terminated). @return 0, VCZC_ERR_INDEX, or _BUFFER where
 * `key_size` is too small. @since 0.1 */
VCZC_API int vczc_array_chunk_key(const vczc_array_t *array, const int64_t *coords, char *key, size_t key_size);

/** How many chunks are stored, and how many bytes they take as read from the store, from its index, without
 * decoding. Either output may be NULL. @return 0, or VCZC_ERR_STORE, _UNSUPPORTED, _NO_MEMORY. @since 0.1 */
VCZC_API int vczc_array_count_stored(const vczc_array_t *array, int64_t *nchunks, int64_t *nbytes);

/** Ask the system to have the stored bytes of a chunk ready; a hint that never fails loudly.
 * @return 0, or VCZC_ERR_INDEX. @since 0.1 */
VCZC_API int vczc_prefetch_block(const vczc_array_t *array, const int64_t *coords);

/* ---- Genotypes ----
 *
 * A call is the alleles of one sample at one variant: 0 is the reference, a number above it another allele, -2 (fill)
 * none, where a call has fewer alleles than the array has room for, and any other negative number a missing allele. A
 * call is missing where one of its alleles is, or where all of them are fill. What is written is the caller's memory,
 * and undefined on failure. Large requests are shared among as many threads as vczc_set_threads says. */

/** Calls in memory: allele k of sample j at variant i lies i * strides[0] + j * strides[1] + k * strides[2] bytes
 * behind `data`. @since 0.1 */
typedef struct {
    const void *data;
    int dtype;          /**< VCZC_INT8 to VCZC_UINT64, in native byte order, of any alignment */
    int64_t shape[3];   /**< variants, samples, ploidy */
    int64_t strides[3]; /**< bytes, of any sign */
} vczc_genotypes_t;

/** Which calls of an array; where it is NULL, or zeroed, all of them. Numbers may come in any order and more than once;
 * variants in ascending order, and samples chunk by chunk, are read fastest. @since 0.1 */
typedef struct {
    const int64_t *variants; /**< row numbers, or NULL: all */
    int64_t nvariants;
    const int64_t *samples; /**< column numbers, or NULL: all */
    int64_t nsamples;
    int nthreads; /**< 0: as vczc_set_threads says */
} vczc_calls_t;

/**
 * How many alleles of each call are not the reference, to (i, j) at out + i * out_strides[0] + j * out_strides[1] (NULL
 * is C order without gaps); -1, as a float NaN, where the call is missing. `dtype` is that of `out`: VCZC_INT8 to
 * VCZC_INT64, VCZC_FLOAT32 or VCZC_FLOAT64. `out` does not overlap the genotypes, nor its items one another.
 * @return 0, or VCZC_ERR_ARGUMENT (also for a ploidy whose dosages do not fit `dtype`), _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_genotype_dosage(const vczc_genotypes_t *genotypes, int dtype, void *out, const int64_t *out_strides);

/**
 * How often each of alleles 0 to nalleles - 1 occurs at each variant: variants x nalleles items in C order. Missing and
 * fill are not counted; alleles of calls that are missing in part are.
 * @return 0, or VCZC_ERR_ARGUMENT (also where there is an allele that is not below nalleles), _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_genotype_allele_counts(const vczc_genotypes_t *genotypes, int64_t nalleles, int32_t *out);

/** How many calls are missing at each variant, and of each sample; either output may be NULL.
 * @return 0, or VCZC_ERR_ARGUMENT, _NO_MEMORY.  @since 0.1 */
VCZC_API int vczc_genotype_missing(const vczc_genotypes_t *genotypes, int64_t *of_variants, int64_t *of_samples);

/**
 * The calls as rows of a PLINK 1 .bed file, without its three bytes of head: for each variant (samples + 3) / 4 bytes,
 * four samples a byte, the first in the lowest bits, zeros behind the last. A1 is every allele but the reference: 0 for
 * two of these, 2 for one, 3 for two references, 1 for a missing call. A call of one allele counts it twice.
 * @return 0, or VCZC_ERR_ARGUMENT (also for a ploidy above 2), _NO_MEMORY.  @since 0.1
 */
VCZC_API int vczc_genotype_bed(const vczc_genotypes_t *genotypes, uint8_t *out);

/** The same four of an array of genotypes (integers, with axes of variants, samples and ploidy), decoded no further
 * than is needed, and never more of it at a time than a chunk, or some megabytes, for each thread.
 * @return as above, or VCZC_ERR_INDEX for a number that is not in the array, or as vczc_array_read_region. @since 0.1
 */
VCZC_API int vczc_array_read_dosage(const vczc_array_t *array, const vczc_calls_t *calls, int dtype, void *out,
                                    const int64_t *out_strides);
/** See vczc_genotype_allele_counts and vczc_array_read_dosage. @since 0.1 */
VCZC_API int vczc_array_read_allele_counts(const vczc_array_t *array, const vczc_calls_t *calls, int64_t nalleles,
                                           int32_t *out);
/** See vczc_genotype_missing and vczc_array_read_dosage. @since 0.1 */
VCZC_API int vczc_array_read_missing(const vczc_array_t *array, const vczc_calls_t *calls, int64_t *of_variants,
                                     int64_t *of_samples);
/** See vczc_genotype_bed and vczc_array_read_dosage. @since 0.1 */
VCZC_API int vczc_array_read_bed(const vczc_array_t *array, const vczc_calls_t *calls, uint8_t *out);

/* ---- Several blocks at once ---- */

/** One block of vczc_read_blocks. Its size never changes. */
typedef struct {
    const vczc_array_t *array; /**< the blocks of one call may be of several arrays */
    const int64_t *coords;     /**< as of vczc_array_read_block */
    void *out;                 /**< the caller's; no two may overlap */
    size_t out_size;
    int status; /**< written: 0, or the failure of this block */
} vczc_block_read_t;

/** Told how many blocks of a call are done: a non-zero result cancels those that have not begun, and nothing where all
 * have. Called by the thread that made the call, and by no other, so that it needs no lock; last when all are done. */
typedef int (*vczc_progress_fn)(void *user, int64_t ndone, int64_t nblocks);

/** How to read several blocks. Zero what you do not set: fields may be added at the end. */
typedef struct {
    size_t struct_nbytes;      /**< sizeof(vczc_batch_options_t) of the caller's header */
    vczc_progress_fn progress; /**< may be NULL */
    void *user;                /**< for `progress` */
    int nthreads;              /**< the calling one included; 0: as vczc_set_threads says */
} vczc_batch_options_t;

/**
 * Read `nreads` blocks, each as vczc_array_read_block, with several threads, in about the order given. A block that
 * fails does not keep the others from being read: its status says so. `options` may be NULL.
 * To read ahead, ask for the next few blocks in another thread while working on the last ones.
 * @return 0, the failure of the first block of `reads` that failed (vczc_error_detail is of it), or VCZC_ERR_CANCELLED
 * where blocks were left out (it is their status). For a NULL in `reads`, or options that make no sense,
 * VCZC_ERR_ARGUMENT, before anything is read: no status is then written.  @since 0.1
 */
VCZC_API int vczc_read_blocks(vczc_block_read_t *reads, size_t nreads, const vczc_batch_options_t *options);

/* ---- Samples ---- */

/** The samples of a VCZ, by id. */
typedef struct vczc_samples vczc_samples_t;

/**
 * Read the ids of the VCZ whose group is at `path` ("" is the root): its array sample_id. The handle holds them, and
 * nothing of the store.
 * @return 0, VCZC_ERR_NO_NODE where there is no sample_id, VCZC_ERR_METADATA where it holds no texts, or as
 * vczc_array_read_strings.  @since 0.1
 */
VCZC_API int vczc_samples_open(vczc_samples_t **samples, vczc_store_t *store, const char *path);

/** @since 0.1 */
VCZC_API void vczc_samples_close(vczc_samples_t *samples);

/** How many there are. @since 0.1 */
VCZC_API int64_t vczc_samples_count(const vczc_samples_t *samples);

/** The id of sample `index`: zero-terminated, borrowed; "" of one that was removed; NULL outside. @since 0.1 */
VCZC_API const char *vczc_samples_id(const vczc_samples_t *samples, int64_t index);

/** The index of the sample `id` into *index, -1 on failure. A removed sample, whose id is "", is never found.
 * @return 0, VCZC_ERR_NOT_FOUND, or VCZC_ERR_METADATA where two samples have this id. @since 0.1 */
VCZC_API int vczc_samples_find(const vczc_samples_t *samples, const char *id, int64_t *index);

/* ---- Regions of the genome ---- */

/** What finds the rows of a region in a VCZ. */
typedef struct vczc_regions vczc_regions_t;

/** The end of every contig, 2^62: as the `stop` of an interval it means all that follows. */
#define VCZC_CONTIG_END INT64_C(4611686018427387904)

/** Positions of a contig: 1-based, both ends belong to it. Its size never changes. */
typedef struct {
    int64_t contig; /**< index of contig_id */
    int64_t start;  /**< 0 or more: 0 is a telomere */
    int64_t stop;   /**< at most VCZC_CONTIG_END */
} vczc_interval_t;

/** Rows [start, stop) along the variants axis. Its size never changes. */
typedef struct {
    int64_t start;
    int64_t stop;
} vczc_rows_t;

/** When a record overlaps a region. */
enum {
    VCZC_OVERLAP_RECORD = 0, /**< any base of its reference allele lies in it: as `bcftools view -r` */
    VCZC_OVERLAP_POS = 1     /**< its position lies in it: as `bcftools view -t` */
};

/**
 * Read what regions are found by in the VCZ whose group is at `path` ("" is the root): contig_id, variant_contig,
 * variant_position, and where records end: variant_length, else the first of variant_allele and variant_END. A summary
 * of them is kept, and the arrays stay open. A region_index of the store is not needed, and not believed: it may be
 * stale.
 * @return 0, VCZC_ERR_NO_NODE where an array is missing, VCZC_ERR_METADATA where one is not what it should be, or as
 * vczc_array_read_block.  @since 0.1
 */
VCZC_API int vczc_regions_open(vczc_regions_t **regions, vczc_store_t *store, const char *path);

/** @since 0.1 */
VCZC_API void vczc_regions_close(vczc_regions_t *regions);

/** The number of contigs. @since 0.1 */
VCZC_API int64_t vczc_regions_ncontigs(const vczc_regions_t *regions);

/** The id of a contig: zero-terminated, borrowed; NULL outside. @since 0.1 */
VCZC_API const char *vczc_regions_contig(const vczc_regions_t *regions, int64_t contig);

/**
 * One region, as bcftools writes it, into an interval: `contig`, `contig:pos`, `contig:from-` or `contig:from-to`, both
 * ends included; numbers may have commas. A contig's whole name is looked up before the text is split at a colon.
 * Numbers above VCZC_CONTIG_END become it. On failure `interval` is zeroed.
 * @return 0, VCZC_ERR_NOT_FOUND where there is no such contig, VCZC_ERR_ARGUMENT where it is no region.  @since 0.1
 */
VCZC_API int vczc_regions_parse(const vczc_regions_t *regions, const char *text, vczc_interval_t *interval);

/**
 * The rows that overlap a region, or several with commas between them, as *nranges ranges that ascend and do not touch:
 * no row is given twice, and positions need not be sorted. *ranges is to be freed with vczc_rows_free; NULL on failure.
 * `overlap` is VCZC_OVERLAP_….
 * @return 0 (with *nranges 0 where nothing overlaps), or as vczc_regions_parse and vczc_array_read_block.  @since 0.1
 */
VCZC_API int vczc_regions_find(const vczc_regions_t *regions, const char *text, int overlap, vczc_rows_t **ranges,
                               size_t *nranges);

/** The same for intervals, in any order. @return also VCZC_ERR_INDEX for a contig that is not there, _ARGUMENT for
 * an interval that ends before it begins, or leaves 0 to VCZC_CONTIG_END. @since 0.1 */
VCZC_API int vczc_regions_find_intervals(const vczc_regions_t *regions, const vczc_interval_t *intervals,
                                         size_t nintervals, int overlap, vczc_rows_t **ranges, size_t *nranges);

/** Free ranges that vczc gave. @since 0.1 */
VCZC_API void vczc_rows_free(vczc_rows_t *ranges);

#ifdef __cplusplus
}
#endif

#endif
