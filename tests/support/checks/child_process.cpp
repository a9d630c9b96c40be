// SPDX-License-Identifier: MIT
#include "support/checks/child_process.h"

#include "support/checks/catch.h"

#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace replayout::test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int moment_ms = 20;

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    pipe_ = ends[0];
    REQUIRE(error == 0);
}

ChildProcess::~ChildProcess() {
    kill();
    ::close(pipe_);
}

bool ChildProcess::read_some() {
    pollfd look{pipe_, POLLIN, 0};
    if (::poll(&look, 1, moment_ms) <= 0) {
        return true;
    }
    char buffer[4'096];
    const ssize_t size = ::read(pipe_, buffer, sizeof(buffer));
    if (size <= 0) {
        return false;
    }
    said_.append(buffer, static_cast<std::size_t>(size));
    return true;
}

std::string ChildProcess::wait_for_line(const std::string& begin, std::chrono::seconds most) {
    for (const auto end = Clock::now() + most; Clock::now() < end;) {
        const bool is_open = read_some();
        for (std::size_t line = 0; line < said_.size();) {
            const std::size_t line_end = said_.find('\n', line);
            if (line_end == std::string::npos) {
                break;
            }
            if (said_.compare(line, begin.size(), begin) == 0) {
                return said_.substr(line, line_end - line);
            }
            line = line_end + 1;
        }
        if (!is_open) {
            break;
        }
    }
    return {};
}

int ChildProcess::wait(std::chrono::seconds most) {
    const auto end = Clock::now() + most;
    while (!has_ended_ && Clock::now() < end) {
        if (!read_some()) {
            ::usleep(moment_ms * 1'000);
        }
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            has_ended_ = true;
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
    }
    return status_;
}

void ChildProcess::kill() {
    if (!has_ended_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        has_ended_ = true;
    }
}

}  // namespace replayout::test
