// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a class that overrides on_serialize() writes all of itself and has no SyncVars
#include <replayout/behaviours/behaviour_builder.h>

using namespace replayout;

class Scroll : public NetworkBehaviour {
  public:
    SyncVar<int> page;

    bool on_serialize(NetworkWriter&, bool) override { return true; }
};

bool describe(NetworkTypes& types) {
    return BehaviourBuilder<Scroll>(types, "Scroll").sync_var<&Scroll::page>().build().has_value();
}
