// SPDX-License-Identifier: MIT
//
// A process whose descriptors run out: so many more it may open, where the system has such a limit.
#pragma once

// The sanitizer of behaviour asks through a pipe whether an object is there, and takes it for none
// where it gets no pipe. It comes with that of addresses.
#if defined(__SANITIZE_ADDRESS__)
#define REPLAYOUT_TESTS_NEED_DESCRIPTORS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REPLAYOUT_TESTS_NEED_DESCRIPTORS 1
#endif
#endif

#if (defined(__unix__) || defined(__APPLE__)) && !defined(REPLAYOUT_TESTS_NEED_DESCRIPTORS)
#define REPLAYOUT_TESTS_HAVE_FEW_DESCRIPTORS 1

#include <fcntl.h>
#include <sys/resource.h>

#include "support/checks/catch.h"

namespace replayout {

class FewDescriptors {
  public:
    /// Those that are open stay. A new one takes the least number that is free.
    explicit FewDescriptors(int more) {
        REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
        int end = 0;
        for (int left = more; left > 0 || fcntl(end, F_GETFD) != -1; ++end) {
            left -= fcntl(end, F_GETFD) == -1 ? 1 : 0;
        }
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(end);
        REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

  private:
    rlimit before_{};
};

}  // namespace replayout

#else
#define REPLAYOUT_TESTS_HAVE_FEW_DESCRIPTORS 0
#endif
