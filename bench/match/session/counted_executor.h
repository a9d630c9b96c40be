// SPDX-License-Identifier: MIT
//
// The executor of the examples, and how often it was asked: whether flushes were split at all.
#pragma once

#include <replayout/netdriver/executor.h>

#include "executors/thread_executor.h"

#include <cstdint>

namespace replayout::match {

class CountedExecutor final : public Executor {
  public:
    explicit CountedExecutor(std::uint32_t worker_count) : threads_(worker_count) {}

    [[nodiscard]] std::uint32_t worker_count() const noexcept override {
        return threads_.worker_count();
    }
    void run(std::uint32_t count, ExecutorJob job) override {
        ++rounds_;
        threads_.run(count, job);
    }

    /// Rounds of jobs that were asked for until now.
    [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

  private:
    ThreadExecutor threads_;
    std::uint64_t rounds_ = 0;
};

}  // namespace replayout::match
