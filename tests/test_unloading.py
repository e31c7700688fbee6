# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A plug-in that holds libvczc.a: after vczc_trim it can be unloaded, whoever decoded in it."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from compiling import SAMPLE, STRICT, cc_flags, run, tool

import vczc

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere dlclose may leave all in place"),
    pytest.mark.skipif(
        not Path(vczc.get_library_dir(), "libvczc.a").is_file(), reason="this build had no objcopy"
    ),
]

PLUGIN = r"""
#include <stdint.h>
#include <stdlib.h>
#include <vczc.h>

int use(const char *path) {
    vczc_store_t *store = NULL;
    vczc_array_t *gt = NULL;
    int ret = vczc_store_open(&store, path, 0);
    if (ret == 0) ret = vczc_array_open(&gt, store, "call_genotype");
    if (ret == 0) {
        const int64_t *shape = vczc_array_info(gt)->shape, start[3] = {0, 0, 0};
        const vczc_selection_t all = {start, shape, NULL, 4};
        const size_t nbytes = (size_t) (shape[0] * shape[1] * shape[2]);
        char *alleles = malloc(nbytes), *large = vczc_buffer_alloc((size_t) 5 << 20);
        ret = vczc_array_read_selection(gt, &all, alleles, NULL);
        vczc_buffer_free(large, (size_t) 5 << 20);
        free(alleles);
    }
    vczc_array_close(gt);
    vczc_store_close(store);
    return ret;
}

void trim(void) {
    vczc_trim();
}
"""

# Two threads decode; one of them ends, and the process forks, after dlclose.
HOST = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*use_fn)(const char *);
typedef void (*trim_fn)(void);
static use_fn use;
static const char *store;
static sem_t has_used, may_end;

static void *run_thread(void *unused) {
    (void) unused;
    if (use(store) != 0) exit(3);
    sem_post(&has_used);
    sem_wait(&may_end);
    return NULL;
}

static void use_plugin(const char *path) {
    pthread_t thread;
    int status = -1;
    trim_fn trim;
    void *plugin = dlopen(path, RTLD_NOW);
    if (plugin == NULL) exit(4);
    *(void **) &use = dlsym(plugin, "use");
    *(void **) &trim = dlsym(plugin, "trim");
    if (pthread_create(&thread, NULL, run_thread, NULL) != 0 || use(store) != 0) exit(5);
    sem_wait(&has_used);
    trim();
    if (dlclose(plugin) != 0 || dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL) exit(6);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0) exit(7);
    sem_post(&may_end);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    store = argv[2];
    sem_init(&has_used, 0, 0);
    sem_init(&may_end, 0, 0);
    for (int round = 0; round < 20; round++)
        use_plugin(argv[1]);
    puts("done");
    return 0;
}
"""


@pytest.fixture(scope="module")
def host_and_plugin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unloading")
    compiler = [*tool(os.environ.get("CC"), "cc"), "-g", *STRICT]
    (folder / "plugin.c").write_text(PLUGIN)
    (folder / "host.c").write_text(HOST)
    flags = ["-shared", "-fPIC", folder / "plugin.c", *cc_flags("--static"), "-pthread"]
    run(*compiler, *flags, "-o", folder / "plugin.so")
    run(*compiler, "-D_GNU_SOURCE", folder / "host.c", "-ldl", "-pthread", "-o", folder / "host")
    return folder / "host", folder / "plugin.so"


def test_a_plugin_is_unloaded_while_its_threads_live(host_and_plugin):
    assert run(*host_and_plugin, SAMPLE) == "done\n"


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
def test_nothing_is_left_behind(host_and_plugin):
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]
    command += ["--errors-for-leak-kinds=definite,indirect,possible"]
    env = {**os.environ, "VCZC_CPU": "avx2"}  # valgrind knows no more
    assert run(*command, *host_and_plugin, SAMPLE, env=env) == "done\n"
