// SPDX-License-Identifier: MIT
//
// An Executor of std::thread: some that wait for work, and whoever asks for it helps.
//
// Jobs of a flush are short, and a flush asks for up to four rounds of them, so a thread that finds
// nothing to do looks again for some microseconds before it sleeps. Job i of one round works on
// much of what job i of the round before did, so each thread begins with jobs of its own, the same
// in each round, and takes those of others when it has none left. With a job system of your own,
// write these lines over that instead: a game has its threads already.
#pragma once

#include <replayout/netdriver/executor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

class ThreadExecutor final : public replayout::Executor {
  public:
    /// Starts one thread less: the caller of run() is the other one.
    explicit ThreadExecutor(std::uint32_t worker_count) : rows_(worker_count) {
        for (std::uint32_t i = 1; i < worker_count; ++i) {
            threads_.emplace_back([this, i] { wait_for_work(i); });
        }
    }
    ~ThreadExecutor() override {
        is_over_ = true;
        rounds_.fetch_add(1);
        rounds_.notify_all();
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }
    ThreadExecutor(const ThreadExecutor&) = delete;
    ThreadExecutor& operator=(const ThreadExecutor&) = delete;

    [[nodiscard]] std::uint32_t worker_count() const noexcept override {
        return static_cast<std::uint32_t>(rows_.size());
    }

    void run(std::uint32_t count, replayout::ExecutorJob job) override {
        job_ = job;
        done_.store(0, std::memory_order_relaxed);
        const std::uint64_t workers = rows_.size();
        for (std::uint64_t i = 0; i < workers; ++i) {  // from here on they may begin
            rows_[i].jobs.store((count * i / workers) << 32 | count * (i + 1) / workers,
                                std::memory_order_release);
        }
        rounds_.fetch_add(1);
        rounds_.notify_all();
        work(0);
        for (std::uint32_t tries = 0; done_.load(std::memory_order_acquire) < count; ++tries) {
            if (tries > tries_before_sleep) {
                std::this_thread::yield();  // whoever has the last one was put aside
            }
        }
    }

  private:
    static constexpr std::uint32_t tries_before_sleep = 20'000;

    /// Jobs that nobody has taken: the first one in the upper half, the end in the lower one.
    struct alignas(64) Row {
        std::atomic<std::uint64_t> jobs{0};
    };

    void wait_for_work(std::uint32_t worker) {
        std::uint32_t seen = 0;
        while (!is_over_) {
            for (std::uint32_t tries = 0; rounds_.load() == seen && tries < tries_before_sleep;) {
                ++tries;
            }
            rounds_.wait(seen);
            seen = rounds_.load();
            work(worker);
        }
    }

    /// Takes jobs until there are none. Who comes late finds none, or those of the next round.
    void work(std::uint32_t worker) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            Row& row = rows_[(worker + i) % rows_.size()];
            std::uint64_t jobs = row.jobs.load(std::memory_order_acquire);
            while ((jobs >> 32) < (jobs & 0xFFFF'FFFFu)) {
                // Its own from the front, those of others from the back.
                const std::uint64_t taken = i == 0 ? jobs + (std::uint64_t{1} << 32) : jobs - 1;
                if (row.jobs.compare_exchange_weak(jobs, taken, std::memory_order_acq_rel)) {
                    job_(static_cast<std::uint32_t>(i == 0 ? jobs >> 32 : taken & 0xFFFF'FFFFu));
                    done_.fetch_add(1, std::memory_order_release);
                    jobs = row.jobs.load(std::memory_order_acquire);
                }
            }
        }
    }

    replayout::ExecutorJob job_{nullptr, nullptr};
    std::atomic<std::uint32_t> done_{0};
    std::atomic<std::uint32_t> rounds_{0};
    std::atomic<bool> is_over_{false};
    std::vector<Row> rows_;  // by worker; the first is whoever calls
    std::vector<std::thread> threads_;
};
