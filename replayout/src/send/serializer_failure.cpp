// SPDX-License-Identifier: MIT
#include "serializer_failure.h"

#include "shared_pieces.h"
#include "struct_value.h"
#include "value_path.h"

namespace replayout {

void note_serializer_failure(WriteContext& context, const RepLayoutCmd& cmd,
                             ConstShadowBuffer leaf) {
    context.note_failed();
    const RepHandle handle = context.handle();
    Vector<RepHandle>& left_out = context.scratch().left_out;
    if (!left_out.empty() && left_out.back() == handle) {
        return;  // another element of the same array
    }
    ++context.sending().counters.values_failed;
    left_out.push_back(handle);
    const bool is_call = context.is_call();
    if (!is_call && !SharedPieces(context).note_failure(handle)) {
        return;  // it was logged for another receiver
    }
    log(LogLevel::Error,
        describe_struct_failure(
            cmd, value_path(context.layout(), handle, context.state().shadow(), leaf.data()),
            "writing") +
            (is_call ? "; the call is refused" : "; the property is left out"));
}

}  // namespace replayout
