// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     the class overrides on_serialize(), which nobody would call: say .custom_serialization()
#include <replayout/behaviours/behaviour_builder.h>

using namespace replayout;

class Scroll : public NetworkBehaviour {
  public:
    bool on_serialize(NetworkWriter&, bool) override { return true; }
};

bool describe(NetworkTypes& types) {
    return BehaviourBuilder<Scroll>(types, "Scroll").build().has_value();
}
