// SPDX-License-Identifier: MIT
//
// Notices that a server answers its client from another address than the client asked. The client
// drops such answers and asks again, for ever, and nothing else would say so.
#pragma once

#include <string>
#include <string_view>

namespace replayout {

class AnswerWatch {
  public:
    /// A client had sent to `asked`, and the answer came from `answered`. Logs that once.
    void strayed(std::string_view kind, const std::string& asked, const std::string& answered);

  private:
    bool is_told_ = false;
};

}  // namespace replayout
