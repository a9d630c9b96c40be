// SPDX-License-Identifier: MIT
//
// An Executor of oneTBB: jobs are tasks of the arena that the flush is called in.
#pragma once

#include <replayout/netdriver/executor.h>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cstdint>

class TbbExecutor final : public replayout::Executor {
  public:
    [[nodiscard]] std::uint32_t worker_count() const noexcept override {
        return static_cast<std::uint32_t>(oneapi::tbb::this_task_arena::max_concurrency());
    }
    void run(std::uint32_t count, replayout::ExecutorJob job) override {
        // One job a task: there are few, and they are long.
        oneapi::tbb::parallel_for(std::uint32_t{0}, count, job, oneapi::tbb::simple_partitioner());
    }
};
