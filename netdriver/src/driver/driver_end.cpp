// SPDX-License-Identifier: MIT
#include "driver_end.h"

namespace replayout {

RefusalText DriverEnd::refusal(const char* function) const noexcept {
    RefusalText text;
    if (server == nullptr && client != nullptr) {
        text.append("%s: this driver is a client, and only a server may call it", function);
    } else if (server == nullptr) {
        text.append(
            "%s: this driver does not serve: call listen(), look at its Status, and take "
            "interest() "
            "and rates() after it; a client may not call it",
            function);
    } else {
        return refusal_within(function);
    }
    return text;
}

RefusalText DriverEnd::refusal_within(const char* function) noexcept {
    RefusalText text;
    text.append(
        "%s: called from within the world, a notify or a hook; do it after the tick or call has "
        "returned",
        function);
    return text;
}

RefusalText DriverEnd::named(const char* function, NetObjectId id) const noexcept {
    RefusalText text;
    text.append("%s: ", function);
    append_object(text, server->objects(), id);
    return text;
}

RefusalText DriverEnd::refusal(const char* function, NetObjectId id) const noexcept {
    if (server == nullptr || (is_calling_out && server->objects().contains(id))) {
        return refusal(function);
    }
    const ObjectStore& objects = server->objects();
    RefusalText text;
    text.append("%s: ", function);
    if (id.generation == 0) {
        text.append("no object (generation 0): use the id that add_object() returned");
        return text;
    }
    if (objects.contains(id)) {
        append_object(text, objects, id);
        const NetObjectId whole = objects.id_at(objects.root_of(slot_of(id)));
        text.append(" is a part: say this of object %u.%u, which it is a part of", whole.index,
                    whole.generation);
        return text;
    }
    text.append("object %u.%u", id.index, id.generation);
    if (!objects.has_slot(slot_of(id)) || id.generation > objects.id_at(slot_of(id)).generation) {
        text.append(" was never added to this driver: an id is valid for the driver that gave it");
        return text;
    }
    const bool is_there = objects.at(slot_of(id)) != nullptr;
    const RepLayout* const last = server->layouts().find(objects.last_layout_at(slot_of(id)));
    if (!is_there && id == objects.id_at(slot_of(id)) && last != nullptr) {
        text.append(", a ");
        text.append_name(last->name());
        text.append(",");
    }
    text.append(" was removed or torn off: forget an id with its object");
    if (is_there && !objects.at(slot_of(id))->is_departing()) {
        text.append("; in its place is ");
        append_object(text, objects, objects.id_at(slot_of(id)));
    }
    return text;
}

RefusalText DriverEnd::refusal_of_tick(const char* function, Ticks ticks) const noexcept {
    if (is_calling_out) {
        return refusal_within(function);
    }
    RefusalText text;
    text.append("%s: %s", function,
                ticks.is_players ? "the driver belongs to a ReplayPlayer: call its advance()"
                : ticks.is_ticking
                    ? "called from within a tick of this driver; do it after that"
                    : "the driver has not started: call listen() or connect() before, "
                      "and look at its Status");
    return text;
}

RefusalText DriverEnd::refusal_of_client(const char* function) const noexcept {
    RefusalText text;
    text.append("%s: this driver is %s", function,
                server != nullptr ? "a server, and only a client may call it"
                                  : "not connected: call connect() before, and look at its Status");
    return text;
}

}  // namespace replayout
