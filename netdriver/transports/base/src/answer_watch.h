// SPDX-License-Identifier: MIT
//
// Notices that a server answers its client from another address than the client asked. The client
// drops such answers and asks again, for ever, and nothing else would say so.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <string>
#include <string_view>
#include <utility>

namespace replayout {

class AnswerWatch {
  public:
    /// A client had sent to `asked`, and the answer came from `answered`. Logs that once.
    void strayed(std::string_view kind, const std::string& asked, const std::string& answered) {
        if (std::exchange(is_told_, true)) {
            return;
        }
        log(LogLevel::Warning, std::string(kind) + ": the client asked " + asked + ", and " +
                                   answered +
                                   " answered. A client takes answers only from the address that "
                                   "it asked: connect to " +
                                   answered + ", or let the server listen on " + asked + " itself");
    }

  private:
    bool is_told_ = false;
};

}  // namespace replayout
