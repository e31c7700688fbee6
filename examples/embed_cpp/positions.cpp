// SPDX-License-Identifier: MIT
// Copyright (c) The vczc developers
// Handles that close themselves, and failures as exceptions: all that C++ needs on top of vczc.h.
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vczc.h>
#include <vector>

struct Close {
    void operator()(vczc_store_t *store) const { vczc_store_close(store); }
    void operator()(vczc_array_t *array) const { vczc_array_close(array); }
};
using Store = std::unique_ptr<vczc_store_t, Close>;
using Array = std::unique_ptr<vczc_array_t, Close>;

// The library's threads and memory end with main, after every handle.
struct Library {
    ~Library() { vczc_trim(); }
};

static void check(int ret) {
    if (ret != 0) throw std::runtime_error(std::string(vczc_strerror(ret)) + ": " + vczc_error_detail());
}

static Store open_store(const char *path) {
    vczc_store_t *store = nullptr;
    check(vczc_store_open(&store, path, 0));
    return Store(store);
}

static Array open_array(const Store &store, const char *path) {
    vczc_array_t *array = nullptr;
    check(vczc_array_open(&array, store.get(), path));
    return Array(array);
}

int main(int argc, char **argv) try {
    const Library library;
    const Array array = open_array(open_store(argc > 1 ? argv[1] : ""), "variant_position");
    const vczc_array_info_t *info = vczc_array_info(array.get());
    if (info->dtype != VCZC_INT32 || info->ndim != 1) throw std::runtime_error("int32 positions are wanted");
    std::vector<std::int32_t> positions(static_cast<std::size_t>(info->chunks[0]));
    for (std::int64_t i = 0, n = 0; i < info->grid[0]; i++) {
        check(vczc_array_block_shape(array.get(), &i, &n));
        check(vczc_array_read_block(array.get(), &i, positions.data(), positions.size() * sizeof(std::int32_t)));
        for (std::int64_t k = 0; k < n; k++) std::cout << positions[static_cast<std::size_t>(k)] << '\n';
    }
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
