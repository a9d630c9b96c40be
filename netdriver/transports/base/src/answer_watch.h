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
    /// Of a client: an answer to what it had sent to `asked` came from `answered`. Logs once.
    void strayed(std::string_view kind, const std::string& asked, const std::string& answered);

  private:
    bool is_told_ = false;
};

}  // namespace replayout
