// SPDX-License-Identifier: MIT
#include "answer_watch.h"

#include <replayout/reflection/diagnostics.h>

#include <utility>

namespace replayout {

void AnswerWatch::strayed(std::string_view kind, const std::string& asked,
                          const std::string& answered) {
    if (std::exchange(is_told_, true)) {
        return;
    }
    log(LogLevel::Warning,
        std::string(kind) + ": the client asked " + asked + ", and " + answered +
            " answered. A client takes answers only from the address that it asked: connect to " +
            answered + ", or let the server listen on " + asked + " itself");
}

}  // namespace replayout
