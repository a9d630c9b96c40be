// SPDX-License-Identifier: MIT
//
// A program that a test runs beside itself, and what it says on stderr.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

namespace replayout::test {

class ChildProcess {
  public:
    /// `arguments`: the program first. What it writes to stdout is thrown away.
    explicit ChildProcess(const std::vector<std::string>& arguments);
    /// Kills it, if it still runs.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Waits for a line that begins so; empty: it ended, or time was up.
    [[nodiscard]] std::string wait_for_line(const std::string& begin, std::chrono::seconds most);
    /// Its exit status; -1: it was killed, or time was up.
    [[nodiscard]] int wait(std::chrono::seconds most);
    /// At once, without a goodbye.
    void kill();
    /// All that it said.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

  private:
    /// What there is to be read, after a moment's wait; false: there will be no more.
    bool read_some();

    pid_t pid_ = -1;
    int pipe_ = -1;
    bool has_ended_ = false;
    int status_ = -1;
    std::string said_;
};

}  // namespace replayout::test
