/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A main() for a fuzz target without libFuzzer: gives it each file that the arguments name, a folder meaning
 * the files in it. Without arguments it gives it nothing: no bytes at all. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static int nreplayed;

/* The input is given in a block of its exact size, so that a sanitizer sees each step past its end. */
static int replay_file(const char *path, size_t nbytes) {
    int ret = -1;
    uint8_t *data = malloc(nbytes == 0 ? 1 : nbytes);
    FILE *file = fopen(path, "rb");
    if (file == NULL || data == NULL || fread(data, 1, nbytes, file) != nbytes) {
        perror(path);
        goto out;
    }
    fprintf(stderr, "%s\n", path); /* before the run: the last one named is the one that crashed */
    LLVMFuzzerTestOneInput(data, nbytes);
    nreplayed++;
    ret = 0;
out:
    if (file != NULL) fclose(file);
    free(data);
    return ret;
}

static int replay(const char *path);

static int replay_folder(const char *path) {
    struct dirent **entries = NULL;
    const int nentries = scandir(path, &entries, NULL, alphasort);
    int ret = nentries < 0 ? -1 : 0;
    if (nentries < 0) perror(path);
    for (int i = 0; i < nentries; i++) {
        char *below = NULL;
        if (entries[i]->d_name[0] != '.') {
            if (asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0 || replay(below) != 0) ret = -1;
        }
        free(below);
        free(entries[i]);
    }
    free(entries);
    return ret;
}

static int replay(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        return -1;
    }
    return S_ISDIR(status.st_mode) ? replay_folder(path) : replay_file(path, (size_t) status.st_size);
}

int main(int argc, char **argv) {
    int ret = 0;
    LLVMFuzzerTestOneInput((const uint8_t *) "", 0);
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != 0) ret = 1;
    }
    printf("%d inputs replayed\n", nreplayed);
    return ret;
}
