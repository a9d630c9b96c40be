// SPDX-License-Identifier: MIT
//
// Version and compile-time options. The only place where the library asks what it is compiled with.
//
// An embedder overrides an option by defining REPLAYOUT_USER_CONFIG as the name of a header of his
// own. No option changes the layout of a public type, so objects compiled with different options
// link together; what differs is only how much is checked.
#pragma once

#ifdef REPLAYOUT_USER_CONFIG
#include REPLAYOUT_USER_CONFIG
#endif

#define REPLAYOUT_VERSION_MAJOR 0
#define REPLAYOUT_VERSION_MINOR 1
#define REPLAYOUT_VERSION_PATCH 0

/// 1: REPLAYOUT_ASSERT checks and reports. 0: it is parsed, and not evaluated.
#ifndef REPLAYOUT_ASSERTIONS
#ifdef NDEBUG
#define REPLAYOUT_ASSERTIONS 0
#else
#define REPLAYOUT_ASSERTIONS 1
#endif
#endif

/// 1: REPLAYOUT_VALIDATE checks invariants that cost more than a branch.
#ifndef REPLAYOUT_VALIDATION
#define REPLAYOUT_VALIDATION 0
#endif

/// The compiler's text for the function it stands in, with template arguments in full; empty where
/// the compiler does not print them so. The typed builder takes the names of members from it.
#if defined(__GNUC__) || defined(__clang__)
#define REPLAYOUT_FUNCTION_TEXT __PRETTY_FUNCTION__
#else
#define REPLAYOUT_FUNCTION_TEXT ""
#endif
