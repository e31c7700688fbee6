/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What differs between compilers: attributes, thread-local storage, the processor family. */
#ifndef VCZI_COMPILER_H
#define VCZI_COMPILER_H

#include <assert.h>

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)
#define VCZI_ARCH_X86 1
#else
#define VCZI_ARCH_X86 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define VCZI_ARCH_ARM64 1
#else
#define VCZI_ARCH_ARM64 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#if defined(__MINGW32__) && !defined(__clang__) /* there "printf" is that of Windows */
#define VCZI_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define VCZI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
#define VCZI_TARGET(features) __attribute__((target(features)))
#define VCZI_NODISCARD __attribute__((warn_unused_result))
#define VCZI_MAYBE_UNUSED __attribute__((unused))
#define VCZI_ALWAYS_INLINE inline __attribute__((always_inline))
#define VCZI_NOINLINE __attribute__((noinline))
#define VCZI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define VCZI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define VCZI_ALIGNED(nbytes) __attribute__((aligned(nbytes)))
#define VCZI_THREAD_LOCAL _Thread_local
#elif defined(_MSC_VER)
#define VCZI_PRINTF(text, first)
#define VCZI_TARGET(features)
#define VCZI_NODISCARD _Check_return_
#define VCZI_MAYBE_UNUSED
#define VCZI_ALWAYS_INLINE __forceinline
#define VCZI_NOINLINE __declspec(noinline)
#define VCZI_LIKELY(condition) (condition)
#define VCZI_UNLIKELY(condition) (condition)
#define VCZI_ALIGNED(nbytes) __declspec(align(nbytes))
#define VCZI_THREAD_LOCAL __declspec(thread)
#else
#define VCZI_PRINTF(text, first)
#define VCZI_TARGET(features)
#define VCZI_NODISCARD
#define VCZI_MAYBE_UNUSED
#define VCZI_ALWAYS_INLINE inline
#define VCZI_NOINLINE
#define VCZI_LIKELY(condition) (condition)
#define VCZI_UNLIKELY(condition) (condition)
#define VCZI_ALIGNED(nbytes) _Alignas(nbytes)
#define VCZI_THREAD_LOCAL _Thread_local
#endif

#define VCZI_STATIC_ASSERT(condition, message) _Static_assert(condition, message)

/* Repeats what a check above has proved; gone in release builds. Data never reaches it. */
#define VCZI_ASSERT(condition) assert(condition)

#endif
