# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""vczc.h for Cython: the same names in the same order; the header says what each means.

Outside the package, compile with `vczc.get_include()` and link what `vczc cc-flags` prints.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "vczc.h" nogil:
    const int VCZC_VERSION_MAJOR
    const int VCZC_VERSION_MINOR
    const int VCZC_VERSION_PATCH

    enum:
        VCZC_MAX_NDIM

    enum:
        VCZC_ERR_NO_MEMORY
        VCZC_ERR_ARGUMENT
        VCZC_ERR_INDEX
        VCZC_ERR_BUFFER
        VCZC_ERR_NOT_FOUND
        VCZC_ERR_STORE
        VCZC_ERR_NO_NODE
        VCZC_ERR_METADATA
        VCZC_ERR_UNSUPPORTED
        VCZC_ERR_CORRUPT
        VCZC_ERR_MISSING_CHUNK
        VCZC_ERR_INTERNAL
        VCZC_ERR_CANCELLED
        VCZC_ERR_LAST

    const char *vczc_strerror(int code) noexcept
    const char *vczc_error_detail() noexcept

    ctypedef struct vczc_error_t:
        int code
        int ndim
        const int64_t *coords
        const char *array
        const char *key
        const char *reason

    void vczc_error_last(vczc_error_t *error) noexcept
    int vczc_error_set(int code, const char *reason) noexcept
    const char *vczc_version() noexcept

    # Threads
    int vczc_set_threads(int nthreads) noexcept
    void *vczc_buffer_alloc(size_t nbytes) noexcept
    void vczc_buffer_free(void *buffer, size_t nbytes) noexcept
    void vczc_set_buffer_pool(size_t nbytes) noexcept

    ctypedef struct vczc_allocator_t:
        size_t struct_nbytes
        void *(*alloc)(void *user, size_t nbytes) noexcept nogil
        void *(*resize)(void *user, void *memory, size_t nbytes) noexcept nogil
        void (*release)(void *user, void *memory) noexcept nogil
        void *user

    int vczc_set_allocator(const vczc_allocator_t *allocator) noexcept
    void vczc_trim() noexcept
    int vczc_get_threads() noexcept

    # Stores
    ctypedef struct vczc_store_t:
        pass

    enum:
        VCZC_OPEN_VERIFY

    enum:
        VCZC_STORE_DIRECTORY
        VCZC_STORE_ZIP
        VCZC_STORE_MEMORY
        VCZC_STORE_CALLBACKS

    int vczc_store_open(vczc_store_t **store, const char *path, uint32_t flags) noexcept

    ctypedef struct vczc_entry_t:
        const char *key
        const void *data
        size_t nbytes

    int vczc_store_open_memory(
        vczc_store_t **store, const vczc_entry_t *entries, size_t nentries
    ) noexcept
    int vczc_store_open_zip_memory(
        vczc_store_t **store, const void *data, size_t nbytes, uint32_t flags
    ) noexcept

    ctypedef int (*vczc_list_fn)(void *user, const char *key, size_t key_nbytes) noexcept nogil

    ctypedef struct vczc_callbacks_t:
        size_t struct_nbytes
        int (*get)(
            void *user, const char *key, uint64_t offset, size_t nbytes,
            const void **data, size_t *data_nbytes, void **pin,
        ) noexcept nogil
        void (*release)(void *user, void *pin) noexcept nogil
        int (*size)(void *user, const char *key, uint64_t *nbytes) noexcept nogil
        int (*list)(
            void *user, const char *prefix, vczc_list_fn tell, void *tell_user
        ) noexcept nogil
        void (*close)(void *user) noexcept nogil
        int prefer_consolidated
        int (*list_folder)(
            void *user, const char *folder, vczc_list_fn tell, void *tell_user
        ) noexcept nogil

    int vczc_store_open_callbacks(
        vczc_store_t **store, const vczc_callbacks_t *callbacks, void *user, const char *name
    ) noexcept
    void vczc_store_close(vczc_store_t *store) noexcept
    int vczc_store_kind(const vczc_store_t *store) noexcept
    const char *vczc_store_location(const vczc_store_t *store) noexcept
    const char *vczc_store_prefix(const vczc_store_t *store) noexcept

    ctypedef struct vczc_bytes_t:
        const void *data
        size_t nbytes
        void *pin
        vczc_store_t *store

    int vczc_store_get(vczc_store_t *store, const char *key, vczc_bytes_t *bytes) noexcept
    void vczc_bytes_release(vczc_bytes_t *bytes) noexcept
    int vczc_store_size(vczc_store_t *store, const char *key, uint64_t *nbytes) noexcept
    int vczc_store_list(
        vczc_store_t *store, const char *prefix, vczc_list_fn tell, void *user
    ) noexcept

    # Nodes: groups and arrays
    ctypedef struct vczc_node_t:
        pass

    enum:
        VCZC_NODE_GROUP
        VCZC_NODE_ARRAY

    ctypedef struct vczc_node_info_t:
        int kind
        int zarr_format
        const char *path
        const char *document
        size_t document_nbytes
        const char *attributes
        size_t attributes_nbytes

    int vczc_node_open(vczc_node_t **node, vczc_store_t *store, const char *path) noexcept
    void vczc_node_close(vczc_node_t *node) noexcept
    const vczc_node_info_t *vczc_node_info(const vczc_node_t *node) noexcept

    enum:
        VCZC_JSON_ABSENT
        VCZC_JSON_NULL
        VCZC_JSON_BOOL
        VCZC_JSON_INTEGER
        VCZC_JSON_REAL
        VCZC_JSON_TEXT
        VCZC_JSON_ARRAY
        VCZC_JSON_OBJECT

    int vczc_node_attr_type(const vczc_node_t *node, const char *key, int *type) noexcept
    int vczc_node_attr_int(const vczc_node_t *node, const char *key, int64_t *value) noexcept
    int vczc_node_attr_double(const vczc_node_t *node, const char *key, double *value) noexcept
    int vczc_node_attr_text(
        const vczc_node_t *node, const char *key, char **text, size_t *nbytes
    ) noexcept
    int vczc_node_attr_json(
        const vczc_node_t *node, const char *key, char **text, size_t *nbytes
    ) noexcept
    int vczc_node_attr_keys(const vczc_node_t *node, vczc_list_fn tell, void *user) noexcept
    void vczc_text_free(char *text) noexcept

    ctypedef int (*vczc_child_fn)(
        void *user, const char *name, size_t name_nbytes, int kind
    ) noexcept nogil

    int vczc_node_children(const vczc_node_t *node, vczc_child_fn tell, void *user) noexcept

    # Arrays
    ctypedef struct vczc_array_t:
        pass

    enum:
        VCZC_BOOL
        VCZC_INT8
        VCZC_INT16
        VCZC_INT32
        VCZC_INT64
        VCZC_UINT8
        VCZC_UINT16
        VCZC_UINT32
        VCZC_UINT64
        VCZC_FLOAT16
        VCZC_FLOAT32
        VCZC_FLOAT64
        VCZC_FIXED_BYTES
        VCZC_FIXED_UTF32
        VCZC_VLEN_UTF8
        VCZC_VLEN_BYTES
        VCZC_COMPLEX64
        VCZC_COMPLEX128
        VCZC_RAW
        VCZC_DATETIME64
        VCZC_TIMEDELTA64

    enum:
        VCZC_MISSING_IS_ERROR
        VCZC_STORED_ONLY
        VCZC_STORED_COPY

    ctypedef struct vczc_array_info_t:
        int ndim
        int dtype
        int64_t itemsize
        const int64_t *shape
        const int64_t *chunks
        const int64_t *shards
        const int64_t *grid
        int64_t nchunks
        int64_t chunk_nbytes
        const void *fill
        size_t fill_nbytes
        int fill_is_null
        char order
        char stored_byte_order
        int zarr_format
        const char *path
        const char *const *dims
        const char *time_unit
        int64_t time_scale

    int vczc_array_open(vczc_array_t **array, vczc_store_t *store, const char *path) noexcept
    int vczc_array_open_flags(
        vczc_array_t **array, vczc_store_t *store, const char *path, uint32_t flags,
        int64_t max_chunk_nbytes,
    ) noexcept
    void vczc_array_close(vczc_array_t *array) noexcept
    const vczc_array_info_t *vczc_array_info(const vczc_array_t *array) noexcept
    const vczc_node_t *vczc_array_node(const vczc_array_t *array) noexcept
    const vczc_node_info_t *vczc_array_node_info(const vczc_array_t *array) noexcept
    int vczc_array_block_shape(
        const vczc_array_t *array, const int64_t *coords, int64_t *shape
    ) noexcept
    int vczc_array_read_block(
        const vczc_array_t *array, const int64_t *coords, void *out, size_t out_size
    ) noexcept
    int vczc_array_read_region(
        const vczc_array_t *array, const int64_t *start, const int64_t *stop, void *out,
        const int64_t *out_strides,
    ) noexcept

    ctypedef struct vczc_selection_t:
        const int64_t *start
        const int64_t *stop
        const int64_t *step
        int nthreads

    int vczc_array_read_selection(
        const vczc_array_t *array, const vczc_selection_t *selection, void *out,
        const int64_t *out_strides,
    ) noexcept

    ctypedef struct vczc_strings_t:
        int64_t nitems
        int64_t *offsets
        char *data
        int64_t data_nbytes
        int64_t max_item_nbytes

    int vczc_array_read_strings(
        const vczc_array_t *array, const int64_t *coords, vczc_strings_t *strings
    ) noexcept
    int vczc_array_read_strings_selection(
        const vczc_array_t *array, const vczc_selection_t *selection, vczc_strings_t *strings
    ) noexcept
    void vczc_strings_clear(vczc_strings_t *strings) noexcept
    int vczc_array_stored(
        const vczc_array_t *array, const int64_t *coords, vczc_bytes_t *bytes
    ) noexcept
    int vczc_array_chunk_key(
        const vczc_array_t *array, const int64_t *coords, char *key, size_t key_size
    ) noexcept
    int vczc_array_count_stored(
        const vczc_array_t *array, int64_t *nchunks, int64_t *nbytes
    ) noexcept
    int vczc_prefetch_block(const vczc_array_t *array, const int64_t *coords) noexcept

    # Genotypes

    ctypedef struct vczc_genotypes_t:
        const void *data
        int dtype
        int64_t shape[3]
        int64_t strides[3]

    ctypedef struct vczc_calls_t:
        const int64_t *variants
        int64_t nvariants
        const int64_t *samples
        int64_t nsamples
        int nthreads

    int vczc_genotype_dosage(
        const vczc_genotypes_t *genotypes, int dtype, void *out, const int64_t *out_strides
    ) noexcept
    int vczc_genotype_allele_counts(
        const vczc_genotypes_t *genotypes, int64_t nalleles, int32_t *out
    ) noexcept
    int vczc_genotype_missing(
        const vczc_genotypes_t *genotypes, int64_t *of_variants, int64_t *of_samples
    ) noexcept
    int vczc_genotype_bed(const vczc_genotypes_t *genotypes, uint8_t *out) noexcept
    int vczc_array_read_dosage(
        const vczc_array_t *array, const vczc_calls_t *calls, int dtype, void *out,
        const int64_t *out_strides,
    ) noexcept
    int vczc_array_read_allele_counts(
        const vczc_array_t *array, const vczc_calls_t *calls, int64_t nalleles, int32_t *out
    ) noexcept
    int vczc_array_read_missing(
        const vczc_array_t *array, const vczc_calls_t *calls, int64_t *of_variants,
        int64_t *of_samples,
    ) noexcept
    int vczc_array_read_bed(
        const vczc_array_t *array, const vczc_calls_t *calls, uint8_t *out
    ) noexcept

    # Several blocks at once
    ctypedef struct vczc_block_read_t:
        const vczc_array_t *array
        const int64_t *coords
        void *out
        size_t out_size
        int status

    ctypedef int (*vczc_progress_fn)(void *user, int64_t ndone, int64_t nblocks) noexcept nogil

    ctypedef struct vczc_batch_options_t:
        size_t struct_nbytes
        vczc_progress_fn progress
        void *user
        int nthreads

    int vczc_read_blocks(
        vczc_block_read_t *reads, size_t nreads, const vczc_batch_options_t *options
    ) noexcept

    # Samples
    ctypedef struct vczc_samples_t:
        pass

    int vczc_samples_open(vczc_samples_t **samples, vczc_store_t *store, const char *path) noexcept
    void vczc_samples_close(vczc_samples_t *samples) noexcept
    int64_t vczc_samples_count(const vczc_samples_t *samples) noexcept
    const char *vczc_samples_id(const vczc_samples_t *samples, int64_t index) noexcept
    int vczc_samples_find(const vczc_samples_t *samples, const char *id, int64_t *index) noexcept

    # Regions of the genome
    ctypedef struct vczc_regions_t:
        pass

    const int64_t VCZC_CONTIG_END

    ctypedef struct vczc_interval_t:
        int64_t contig
        int64_t start
        int64_t stop

    ctypedef struct vczc_rows_t:
        int64_t start
        int64_t stop

    enum:
        VCZC_OVERLAP_RECORD
        VCZC_OVERLAP_POS

    int vczc_regions_open(vczc_regions_t **regions, vczc_store_t *store, const char *path) noexcept
    void vczc_regions_close(vczc_regions_t *regions) noexcept
    int64_t vczc_regions_ncontigs(const vczc_regions_t *regions) noexcept
    const char *vczc_regions_contig(const vczc_regions_t *regions, int64_t contig) noexcept
    int vczc_regions_parse(
        const vczc_regions_t *regions, const char *text, vczc_interval_t *interval
    ) noexcept
    int vczc_regions_find(
        const vczc_regions_t *regions, const char *text, int overlap, vczc_rows_t **ranges,
        size_t *nranges,
    ) noexcept
    int vczc_regions_find_intervals(
        const vczc_regions_t *regions, const vczc_interval_t *intervals, size_t nintervals,
        int overlap, vczc_rows_t **ranges, size_t *nranges,
    ) noexcept
    void vczc_rows_free(vczc_rows_t *ranges) noexcept
