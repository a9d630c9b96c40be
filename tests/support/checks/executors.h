// SPDX-License-Identifier: MIT
//
// Executors for tests: those that run jobs in an order of their own on the caller's thread, by
// which whatever depends on the order shows each time; and one with threads, for what only these
// show.
#pragma once

#include "support/checks/seeded_random.h"

#include <replayout/netdriver/executor.h>

#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace replayout::test {

/// The first job, or the last one, comes last.
enum class JobOrder : std::uint8_t { Forward, Reverse, Shuffled };

/// On the caller's thread.
class OrderedExecutor final : public Executor {
  public:
    explicit OrderedExecutor(std::uint32_t worker_count, JobOrder order, std::uint64_t seed = 1)
        : worker_count_(worker_count), order_(order), random_(seed) {}

    [[nodiscard]] std::uint32_t worker_count() const noexcept override { return worker_count_; }
    void run(std::uint32_t count, ExecutorJob job) override {
        ++run_count_;
        order_of_jobs_.resize(count);
        std::iota(order_of_jobs_.begin(), order_of_jobs_.end(), 0u);
        for (std::uint32_t i = count; i > 1 && order_ == JobOrder::Shuffled; --i) {
            std::swap(order_of_jobs_[i - 1], order_of_jobs_[random_.below(i)]);
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            job(order_of_jobs_[order_ == JobOrder::Reverse ? count - 1 - i : i]);
        }
    }

    /// Calls of run().
    [[nodiscard]] std::uint32_t run_count() const noexcept { return run_count_; }

  private:
    std::uint32_t worker_count_;
    JobOrder order_;
    SeededRandom random_;
    std::vector<std::uint32_t> order_of_jobs_;
    std::uint32_t run_count_ = 0;
};

/// Threads of its own for each call: slow, and as simple as can be. Each has its jobs, so that all
/// of them work, however busy the machine is.
class ThreadExecutor final : public Executor {
  public:
    explicit ThreadExecutor(std::uint32_t worker_count) : worker_count_(worker_count) {}

    [[nodiscard]] std::uint32_t worker_count() const noexcept override { return worker_count_; }
    void run(std::uint32_t count, ExecutorJob job) override {
        const auto work = [&](std::uint32_t first) {
            for (std::uint32_t i = first; i < count; i += worker_count_) {
                job(i);
            }
        };
        std::vector<std::thread> threads;
        for (std::uint32_t i = 1; i < worker_count_; ++i) {
            threads.emplace_back(work, i);
        }
        work(0);
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

  private:
    std::uint32_t worker_count_;
};

}  // namespace replayout::test
