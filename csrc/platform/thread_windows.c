/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Threads as Windows has them. */
#ifdef _WIN32

#include "thread.h"

#include <limits.h>
#include <process.h>

#include "mem.h"
#include "status.h"

#define STACK_NBYTES ((unsigned) 1 << 20)

void vczi_mutex_init(vczi_mutex_t *mutex) {
    InitializeSRWLock(mutex);
}

void vczi_mutex_destroy(vczi_mutex_t *mutex) {
    (void) mutex;
}

void vczi_mutex_lock(vczi_mutex_t *mutex) {
    AcquireSRWLockExclusive(mutex);
}

void vczi_mutex_unlock(vczi_mutex_t *mutex) {
    ReleaseSRWLockExclusive(mutex);
}

void vczi_cond_init(vczi_cond_t *cond) {
    InitializeConditionVariable(cond);
}

void vczi_cond_destroy(vczi_cond_t *cond) {
    (void) cond;
}

void vczi_cond_wait(vczi_cond_t *cond, vczi_mutex_t *mutex) {
    (void) SleepConditionVariableSRW(cond, mutex, INFINITE, 0);
}

void vczi_cond_signal(vczi_cond_t *cond) {
    WakeConditionVariable(cond);
}

void vczi_cond_broadcast(vczi_cond_t *cond) {
    WakeAllConditionVariable(cond);
}

/* A pointer to a function may not pass as one to data, so it is wrapped. */
typedef struct {
    void (*function)(void);
} once_call_t;

static BOOL CALLBACK run_once(PINIT_ONCE once, PVOID parameter, PVOID *context) {
    const once_call_t *call = parameter;
    (void) once;
    (void) context;
    call->function();
    return TRUE;
}

void vczi_once(vczi_once_t *once, void (*function)(void)) {
    once_call_t call = {function};
    (void) InitOnceExecuteOnce(once, run_once, &call, NULL);
}

static unsigned __stdcall run_thread(void *argument) {
    const vczi_thread_t *thread = argument; /* but for its handle, which may not be written yet */
    thread->function(thread->user);
    return 0;
}

int vczi_thread_start(vczi_thread_t *thread, void (*function)(void *user), void *user) {
    thread->function = function;
    thread->user = user;
    const uintptr_t handle =
        _beginthreadex(NULL, STACK_NBYTES, run_thread, thread, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (handle == 0) {
        return vczi_fail(VCZC_ERR_NO_MEMORY, "cannot start a thread");
    }
    thread->handle = (HANDLE) handle;
    return 0;
}

void vczi_thread_join(const vczi_thread_t *thread) {
    (void) WaitForSingleObject(thread->handle, INFINITE);
    (void) CloseHandle(thread->handle);
}

static int count_bits(DWORD_PTR mask) {
    int nbits = 0;
    for (; mask != 0; mask &= mask - 1) {
        nbits++;
    }
    return nbits;
}

/* The mask speaks of one group of at most 64 processors; a process that has not narrowed it may use all groups. */
int vczi_thread_processors(void) {
    DWORD_PTR allowed = 0, present = 0;
    const DWORD nall = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    int nprocessors = nall == 0 ? 1 : nall > INT_MAX ? INT_MAX : (int) nall;
    if (GetProcessAffinityMask(GetCurrentProcess(), &allowed, &present) && allowed != 0 && allowed != present) {
        nprocessors = count_bits(allowed);
    }
    return nprocessors;
}

void vczi_thread_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void) prepare;
    (void) parent;
    (void) child;
}

/* Fiber-local storage calls back when a thread ends, as thread-local storage does not; the callback gets the value
 * only, so the value is wrapped with the function. */
typedef struct {
    DWORD index;
    void (*function)(void *value);
} exit_slot_t;

typedef struct {
    void (*function)(void *value);
    void *value;
} exit_value_t;

static void NTAPI run_exit(void *argument) {
    exit_value_t *kept = argument;
    if (kept != NULL && kept->value != NULL) {
        kept->function(kept->value);
    }
    vczi_free(kept);
}

int vczi_thread_exit_open(uintptr_t *slot, void (*function)(void *value)) {
    *slot = 0;
    exit_slot_t *made = vczi_alloc(sizeof(*made));
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    made->function = function;
    made->index = FlsAlloc(run_exit);
    if (made->index == FLS_OUT_OF_INDEXES) {
        vczi_free(made);
        return vczi_fail(VCZC_ERR_NO_MEMORY, "cannot make a place for a thread's own data");
    }
    *slot = (uintptr_t) made;
    return 0;
}

void vczi_thread_exit_set(uintptr_t slot, void *value) {
    const exit_slot_t *made = (const exit_slot_t *) slot;
    exit_value_t *kept = FlsGetValue(made->index);
    if (kept == NULL) {
        kept = value == NULL ? NULL : vczi_alloc(sizeof(*kept));
        if (kept == NULL) {
            return; /* as where a key's value cannot be kept: the thread then has none */
        }
        kept->function = made->function;
        (void) FlsSetValue(made->index, kept);
    }
    kept->value = value;
}

/* Which calls run_exit for every thread that has a value. */
void vczi_thread_exit_close(uintptr_t slot) {
    exit_slot_t *made = (exit_slot_t *) slot;
    (void) FlsFree(made->index);
    vczi_free(made);
}

#else
typedef int vczi_thread_windows_unused; /* C forbids an empty file */
#endif
