// SPDX-License-Identifier: MIT
//
// The executor seam: a server's flush, split over the embedder's threads. The library starts none.
//
//     class Pool final : public Executor { ... };      // docs/examples/10_executor.cpp
//     settings.executor = &pool;
//
// A driver deals its work out to lanes, as many as it was made with: a lane is a share of the
// objects or of the connections, with memory and counters of its own. It hands the executor one
// job a lane and waits for all of them, up to four times a flush:
//
//     driver's thread   | due |     | ids |      | cuts |       | joins  |        | flush |
//     lanes                   compare     encode        lay out         assemble
//                             objects     what changed  packets of it   connections
//
// * Bytes. The packets of every connection are the same for any number of workers, in whatever
//   order jobs run, and without an executor. Jobs of one call share nothing that a byte depends on:
//   an object's shared pieces and payloads are the same whoever builds them, and are built under a
//   lock of the object. Ids that references need, and the cuts between packets, are decided between
//   two calls, on the driver's thread.
// * Datagrams reach the transport on the driver's thread, in the order in which they would without
//   an executor; they are kept until the jobs are over. A transport that says so is called by the
//   jobs instead (Transport::is_concurrent).
// * Counters (NetStats) are kept by lane and added up behind the jobs. What was compared, changed
//   and sent counts the same. What was built and re-used for that may differ by a few where
//   receivers of an object are in many positions at once: who of them comes first is told by time.
// * Memory. The resource of the driver is called by several threads, but never by two at once.
//
// What the embedder's code is asked for by several threads at once, each for other objects:
// NetWorld::object_memory(), and what a compare calls of a type (identical, copy, view, count,
// ...), also of values that objects have in common; with is_validating net_serialize as well. The
// log's handler may be called by any of them. None of these may call the driver.
//
// What is not split: tick_dispatch(), relevancy, objects with references in keyed arrays (their
// compare), connections that are about to be sent a value of a NetSerializer, as that may give ids,
// or that hold states of a NetDeltaSerializer, and with is_counting_types the encoding and all
// connections. They are served on the driver's thread, behind the others.
#pragma once

#include <cstdint>

namespace replayout {

/// What is to be run: a loan for one call of Executor::run(). Copies mean the same.
class ExecutorJob {
  public:
    using Function = void (*)(void* context, std::uint32_t index) noexcept;

    ExecutorJob(Function function, void* context) noexcept
        : function_(function), context_(context) {}

    /// From any thread; once for each index.
    void operator()(std::uint32_t index) const noexcept { function_(context_, index); }

  private:
    Function function_;
    void* context_;
};

/// Outlives the drivers that it was given to. Several drivers may share one, also at once, if it
/// says so itself.
class Executor {
  public:
    virtual ~Executor() = default;

    /// How many jobs run at once at most, the caller's thread included; at least 1. With 1 nothing
    /// is ever split. Asked for once, by NetDriver::listen(). Never changes a byte.
    [[nodiscard]] virtual std::uint32_t worker_count() const noexcept = 0;

    /// Calls job(i) once for each i < count, in any order, on any threads, the caller's included,
    /// and returns when all of them are done. What the caller wrote before is there for each job,
    /// and what they wrote is there for the caller when it returns. That each ran once is asserted.
    /// Jobs do not throw, do not wait for each other, and call no executor.
    virtual void run(std::uint32_t count, ExecutorJob job) = 0;
};

}  // namespace replayout
