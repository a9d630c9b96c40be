// SPDX-License-Identifier: MIT
#include <replayout/reflection/value_copy.h>
#include "client_parts.h"
#include "stored_references.h"

#include <replayout/netdriver/peer_log.h>
#include <replayout/reflection/printable.h>
#include <replayout/syncvar/behaviour_type.h>
#include <replayout/syncvar/network_behaviour.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_prefab.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <replayout/reflection/visit_references.h>
#include <replayout/value_limits.h>
#include "behaviour_section.h"

namespace replayout::syncvar {

namespace {

[[nodiscard]] constexpr std::uint64_t bit_of(std::uint32_t variable) noexcept {
    return std::uint64_t{1} << variable;
}

/// Null: it was made, or may be another time.
[[nodiscard]] const char* why_never(CallResult result) noexcept {
    switch (result) {
        case CallResult::UnknownFunction:
            return "the class has no such function";
        case CallResult::NoSuchVersion:
            return "the other end has another version of the prefab, and so none of its functions";
        case CallResult::ValueOverLimit:
            return "a parameter is beyond its limit (RepLimits), or text that is not UTF-8";
        case CallResult::SerializeFailed:
            return "a parameter cannot be written";
        case CallResult::TooLarge:
            return "it is larger than NetConfig::call_bytes_max";
        default:
            return nullptr;
    }
}

}  // namespace

NetworkBehaviour::~NetworkBehaviour() = default;

void NetworkBehaviour::bind(NetworkIdentity& identity, const BehaviourType& type,
                            const SyncSettings& settings, std::uint8_t component_index) {
    identity_ = &identity;
    type_ = &type;
    settings_ = settings;
    component_index_ = component_index;
    std::byte* object = reinterpret_cast<std::byte*>(this) - type.behaviour_offset;
    for (std::uint32_t i = 0; i < type.sync_vars.size(); ++i) {
        const SyncVarInfo& variable = type.sync_vars[i];
        REPLAYOUT_ASSERT(variable.property.offset > type.behaviour_offset);
        detail::SyncVarLink link;
        link.distance =
            (variable.property.offset - type.behaviour_offset) & detail::sync_var_distance_max;
        link.bit = i & 0xFF;
        variable.bind(object + variable.property.offset, link);
    }
    for (std::uint32_t i = 0; i < type.collections.size(); ++i) {
        collection(i).bind(*this, static_cast<std::uint8_t>(i));
    }
}

NetworkIdentity& NetworkBehaviour::identity() const noexcept {
    if (identity_ == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "identity: this behaviour belongs to no object: make it by instantiate() of a prefab",
            __FILE__, __LINE__);
    }
    return *identity_;
}

bool NetworkBehaviour::is_server() const noexcept {
    return belongs_to_object("is_server") && identity_->is_server();
}
bool NetworkBehaviour::is_client() const noexcept {
    return belongs_to_object("is_client") && identity_->is_client();
}
bool NetworkBehaviour::is_owned() const noexcept {
    return belongs_to_object("is_owned") && identity_->is_owned();
}
bool NetworkBehaviour::is_local_player() const noexcept {
    return belongs_to_object("is_local_player") && identity_->is_local_player();
}

bool NetworkBehaviour::belongs_to_object(const char* function) const noexcept {
    REPLAYOUT_EXPECT(identity_ != nullptr, false,
                     "%s: this behaviour belongs to no object yet: make it by instantiate() of a "
                     "prefab, and use it after its constructor",
                     function);
    return true;
}

NetworkServer& NetworkBehaviour::server() const noexcept {
    if (identity().server_ == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "server: this object is not spawned by a server: ask is_server() before", __FILE__,
            __LINE__);
    }
    return *identity().server_;
}

NetworkClient& NetworkBehaviour::client() const noexcept {
    return client_parts().client;
}

detail::ClientParts& NetworkBehaviour::client_parts() const noexcept {
    if (identity().client_ == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "client: this object is not shown by a client: a host has server()", __FILE__,
            __LINE__);
    }
    return *identity().client_;
}

void NetworkBehaviour::set_dirty_bit(std::uint64_t mask) {
    if (!belongs_to_object("set_dirty_bit")) {
        return;
    }
    if (!identity().is_spawned() || mask == 0 || !(is_server() || is_told_to_server())) {
        return;
    }
    dirty_bits_ |= mask;
    identity().component_changed();
}

bool NetworkBehaviour::is_dirty() const noexcept {
    if (!has_changes()) {
        return false;
    }
    const NetTime now = is_server() ? identity().server_->now() : identity().client_->now;
    return last_sync_us_ == never_us ||
           now.microseconds - last_sync_us_ >= settings_.sync_interval_us;
}

bool NetworkBehaviour::is_told_to_server() const noexcept {
    return settings_.sync_direction == SyncDirection::ClientToServer && is_owned() && !is_server();
}

CallResult NetworkBehaviour::logged(CallResult result, std::string_view function) const {
    if (const char* why = why_never(result)) {
        log_line(LogLevel::Error, "call of \"" + type_->name + "." + std::string(function) +
                                      "\" is not made: " + why);
    }
    return result;
}

void NetworkBehaviour::log_out_of_place(FunctionFlags flags, std::string_view function) const {
    const char* why = nullptr;
    const NetworkServer* const server = identity_->server_;
    if (server == nullptr && identity_->client_ == nullptr) {
        why = "the object is not spawned, so nobody is called: spawn it before";
    } else if (server == nullptr && !has_flag(flags, FunctionFlags::Server)) {
        why = "a client calls what a server calls, so it runs here alone: use a command";
    } else if (server != nullptr && has_flag(flags, FunctionFlags::Server) &&
               identity_->owner_.value == 0) {
        why =
            "a server calls a command of an object without an owner, so it runs here alone: call "
            "the function itself";
    }
    if (why != nullptr) {
        log_line(LogLevel::Warning,
                 "call of \"" + type_->name + "." + std::string(function) + "\": " + why);
    }
}

CallResult NetworkBehaviour::call(std::string_view function, CallParams params) {
    if (!belongs_to_object("call")) {
        return CallResult::Misused;
    }
    const std::string name = NetworkPrefab::member_name(component_index_, function);
    const RepLayout& layout = identity().prefab().layout();
    if (const std::optional<FunctionIndex> found = layout.find_function(name)) {
        log_out_of_place(layout.functions()[found->value].function->flags, function);
    }
    if (!send_state_ahead()) {
        return CallResult::Full;
    }
    if (NetworkServer* server = identity().server_) {
        return logged(server->driver().call_function(identity().object_, name, params,
                                                     RemoteFunctionSendPolicy::ForceSend),
                      function);
    }
    if (detail::ClientParts* client = identity().client_) {
        return logged(client->driver.call_function(identity().handle(), name, params), function);
    }
    return CallResult::NoChannel;
}

CallResult NetworkBehaviour::call_function(TypeKey function, CallParams params) {
    if (!belongs_to_object("call")) {
        return CallResult::Misused;
    }
    const std::vector<BehaviourFunction>& functions = type_->functions;
    const auto found =
        std::find_if(functions.begin(), functions.end(),
                     [&](const BehaviourFunction& candidate) { return candidate.key == function; });
    if (found == functions.end()) {
        return logged(CallResult::UnknownFunction, "(not of this class)");
    }
    const NetworkPrefab& prefab = identity().prefab();
    const auto place = static_cast<std::size_t>(found - functions.begin());
    const FunctionIndex index = prefab.components()[component_index_].functions[place];
    const std::string& name = found->function.name;
    log_out_of_place(found->function.flags, name);
    if (!send_state_ahead()) {
        return CallResult::Full;
    }
    if (NetworkServer* server = identity().server_) {
        return logged(server->driver().call_function(identity().object_, index, params,
                                                     RemoteFunctionSendPolicy::ForceSend),
                      name);
    }
    if (detail::ClientParts* client = identity().client_) {
        return logged(client->driver.call_function(
                          identity().handle(),
                          prefab.layout().functions()[index.value].function->name, params),
                      name);
    }
    return CallResult::NoChannel;
}

bool NetworkBehaviour::send_state_ahead() {
    if (NetworkServer* server = identity().server_) {
        return server->send_state_of(identity());
    }
    detail::ClientParts* client = identity().client_;
    return client == nullptr || client->updates.send_state_of(identity());
}

bool NetworkBehaviour::on_serialize(NetworkWriter& /*writer*/, bool /*initial_state*/) {
    return false;
}

bool NetworkBehaviour::on_deserialize(NetworkReader& /*reader*/, bool /*initial_state*/) {
    return true;
}

bool NetworkBehaviour::holds_back(ParentIndex property) const noexcept {
    const NetworkPrefab::Component& placed = identity_->prefab().components()[component_index_];
    for (std::uint32_t i = 0; i < placed.parents.size(); ++i) {
        const std::uint32_t first = placed.parents[i].value;
        const std::uint32_t count = type_->sync_vars[i].property.array_dim;
        if (property.value >= first && property.value < first + count) {
            return (dirty_bits_ & bit_of(i)) != 0;
        }
    }
    if (settings_.sync_mode == SyncMode::Owner) {
        return false;  // All else goes by calls.
    }
    for (std::uint32_t i = 0; i < placed.collections.size(); ++i) {
        if (placed.collections[i].items == property) {
            return (collection_dirty_bits_ & bit_of(i)) != 0;
        }
    }
    return type_->has_custom_serialization && placed.section.initial == property && has_changes();
}

void NetworkBehaviour::forget_changes() {
    dirty_bits_ = 0;
    collection_dirty_bits_ = 0;
    has_waiting_section_ = false;
    for (std::size_t i = 0; i < type_->collections.size(); ++i) {
        SyncCollection& waiting = collection(i);
        waiting.forget(waiting.waiting_count());
        waiting.begin_anew();
    }
    if (type_->has_custom_serialization) {
        // Not that of the prefab, so who is opened the object is sent it.
        if (const auto& source = section().state.source; source != nullptr) {
            source->behaviour = nullptr;  // a shadow may keep it
        }
        section() = {};
        section().state.source = std::make_shared<detail::SectionSource>();
        section().state.source->behaviour = this;
        section().state.section.number = 1;
    }
}

SyncCollection& NetworkBehaviour::collection(std::size_t index) const noexcept {
    const SyncCollectionInfo& info = type_->collections[index];
    auto* start = const_cast<NetworkBehaviour*>(this)->object();
    return info.at(start + info.offset);
}

std::string NetworkBehaviour::name_of(const SyncCollection& collection) const {
    return "\"" + type_->name + "." + type_->collections[collection.index_].property.name + "\"";
}

void NetworkBehaviour::log_line(LogLevel level, std::string_view text) const {
    if (const NetworkServer* server = identity_->server_) {
        server->log_line(level, identity_->owner_, text);
    } else if (detail::ClientParts* client = identity_->client_) {
        client->log.write(level, text);
    } else {
        log(level, printable(text));
    }
}

void NetworkBehaviour::section_misread(const std::string& text) const {
    client_parts().log.write_failure(&NetworkClientCounters::sections_misread, text);
}

bool NetworkBehaviour::is_sent_operations() const noexcept {
    const NetworkServer* server = identity_->server_;
    if (server == nullptr || !identity_->is_spawned()) {
        return false;
    }
    return settings_.sync_mode == SyncMode::Owner ? identity_->served_owner_.value != 0
                                                  : server->has_connections();
}

void NetworkBehaviour::collection_changed(std::uint32_t index) {
    if (!identity_->is_spawned()) {
        return;
    }
    collection_dirty_bits_ |= bit_of(index);
    identity_->component_changed();
}

bool NetworkBehaviour::must_wait() const noexcept {
    return identity_->must_wait();
}

detail::BehaviourSection& NetworkBehaviour::section() const noexcept {
    const NetworkPrefab::Component& placed = identity_->prefab().components()[component_index_];
    return *reinterpret_cast<detail::BehaviourSection*>(identity_->block_ + placed.section.offset);
}

NetworkBehaviour& NetworkBehaviour::behaviour_of(void* variable,
                                                 const detail::SyncVarLink& link) noexcept {
    return *reinterpret_cast<NetworkBehaviour*>(static_cast<std::byte*>(variable) - link.distance);
}

std::byte* NetworkBehaviour::object() noexcept {
    return reinterpret_cast<std::byte*>(this) - type_->behaviour_offset;
}

bool NetworkBehaviour::runs_hooks_on_assignment(std::uint32_t variable) const noexcept {
    return type_->sync_vars[variable].hook.call != nullptr && identity_->is_server() &&
           identity_->is_host_visible_ && (running_hooks_ & bit_of(variable)) == 0;
}

void NetworkBehaviour::run_hook(std::uint32_t variable, const void* previous, const void* current) {
    const SyncVarInfo& info = type_->sync_vars[variable];
    running_hooks_ |= bit_of(variable);
    info.hook.call(object() + info.owner_offset, previous, current);
    running_hooks_ &= ~bit_of(variable);
}

void NetworkBehaviour::sync_var_received(std::uint32_t variable, const void* previous) {
    const SyncVarInfo& info = type_->sync_vars[variable];
    std::byte* value = object() + info.property.offset;
    received_bits_ |= bit_of(variable);
    if (info.hook.call == nullptr ||
        (settings_.hook_style == HookStyle::Mirror &&
         equal_values(info.property, value, static_cast<const std::byte*>(previous)))) {
        return;
    }
    if (settings_.hook_style == HookStyle::UNet) {
        if (!identity_->is_initial_) {
            run_unet_hook(variable, previous);
        }
        return;
    }
    if (must_wait()) {
        identity_->client_->waiting.keep_value(*this, variable, previous);
        return;
    }
    run_hook(variable, previous, value);
}

void NetworkBehaviour::run_unet_hook(std::uint32_t variable, const void* previous) {
    const SyncVarInfo& info = type_->sync_vars[variable];
    std::byte* value = object() + info.property.offset;
    const auto replace = [&](const void* before) {
        running_hooks_ |= bit_of(variable);
        info.hook.replace(object() + info.owner_offset, value, before);
        running_hooks_ &= ~bit_of(variable);
    };
    if (!may_hold_references(variable)) {
        replace(previous);
        return;
    }
    ValueCopy before(info.property, static_cast<const std::byte*>(previous), identity_->resource_);
    visit_references(info.property, before.get(), [&](const ReferenceOps& ops, void* reference) {
        if (identity_->client_->objects.is_leaving(ops.get(reference))) {
            ops.set(reference, ObjectHandle{});
        }
    });
    replace(before.get());
    // Unless the hook assigned, it is what the driver does not follow any longer.
    note_references(variable);
}

void NetworkBehaviour::references_lost(std::uint32_t variable, const void* previous) {
    if (!identity_->is_spawned()) {
        return;
    }
    const bool is_running = (running_hooks_ & bit_of(variable)) != 0;
    if (is_server()) {
        set_dirty_bit(bit_of(variable));
    }
    const bool is_told = previous != nullptr && !is_running &&
                         type_->sync_vars[variable].hook.call != nullptr &&
                         (is_server() ? identity_->is_host_visible_ : !identity_->is_initial_);
    if (!is_told) {
        return;
    }
    if (!is_server() && settings_.hook_style == HookStyle::Mirror && must_wait()) {
        identity_->client_->waiting.keep_lost(*this, variable);
    } else {
        run_hook(variable, previous, object() + type_->sync_vars[variable].property.offset);
    }
}

std::uint64_t NetworkBehaviour::apply_section(const NetworkBehaviour& section,
                                              std::uint64_t except) {
    const std::byte* source =
        reinterpret_cast<const std::byte*>(&section) - type_->behaviour_offset;
    std::uint64_t changed = 0;
    const auto facts = [this] {
        return std::tuple(identity_->net_id_, identity_->authority_epoch_,
                          identity_->connection_to_client().value);
    };
    const auto before = facts();
    for (std::uint32_t i = 0; i < type_->sync_vars.size(); ++i) {
        if (facts() != before) {
            break;  // The hook of the one before ended it, or took it from its owner.
        }
        const auto& [property, owner_offset, mode, hook, bind] = type_->sync_vars[i];
        std::byte* own = object() + property.offset;
        if ((section.dirty_bits_ & ~except & bit_of(i)) == 0 ||
            equal_values(property, own, source + property.offset)) {
            continue;
        }
        changed |= bit_of(i);
        const auto take = [this, i, own, source] {
            const Property& variable = type_->sync_vars[i].property;
            copy_values(variable, own, source + variable.offset);
            if (may_hold_references(i)) {
                note_references(i);
            }
        };
        if (hook.call == nullptr) {
            take();
            continue;
        }
        const ValueCopy previous(property, own, identity_->resource_);
        take();
        if (identity_->is_server()) {
            run_hook(i, previous.get(), own);
        } else {
            const std::uint64_t received = received_bits_;
            sync_var_received(i, previous.get());
            received_bits_ = received;
        }
    }
    return changed;
}

bool NetworkBehaviour::may_become(std::uint32_t variable, const void* next) const {
    if ((type_->limited_variables >> variable & 1) == 0) {
        return true;
    }
    const Property& property = type_->sync_vars[variable].property;
    const std::optional<std::string> why =
        why_over_limit(property, static_cast<const std::byte*>(next), identity_->prefab().limits());
    if (why) {
        log_line(LogLevel::Error,
                 "SyncVar \"" + type_->name + "." + property.name + "\" stays as it is: " + *why);
    }
    return !why;
}

bool NetworkBehaviour::may_name(std::uint32_t variable, const void* next) const {
    const StoredReferences* references = identity_->references_;
    const Property& property = type_->sync_vars[variable].property;
    REPLAYOUT_EXPECT(references == nullptr || !references->names_any_foreign(
                                                  property, static_cast<const std::byte*>(next)),
                     false,
                     "SyncVar \"%s.%s\" stays as it is: it would name an object that this end does "
                     "not have; name the object by the pointer that this server or client gave",
                     type_->name.c_str(), property.name.c_str());
    return true;
}

void NetworkBehaviour::before_reference_changes(std::uint32_t variable, const void* next) {
    StoredReferences* references = identity_->references_;
    const Property& property = type_->sync_vars[variable].property;
    // What is named anew is another object than what was named under the same address.
    if (references != nullptr &&
        references->names_any_left(property, static_cast<const std::byte*>(next))) {
        references->settle();
    }
}

StoredReferences* NetworkBehaviour::stored_references() const noexcept {
    return identity_->references_;
}

void NetworkBehaviour::note_references(std::uint32_t variable) {
    const Property& property = type_->sync_vars[variable].property;
    if (identity_->references_ != nullptr) {
        identity_->references_->note(property, object() + property.offset);
    }
}

void NetworkBehaviour::run_initial_hooks() {
    const std::byte* own = object();
    const std::byte* block = static_cast<const std::byte*>(identity_->block());
    const NetworkIdentity& first =
        identity_->own_values_ ? *identity_->own_values_ : identity_->prefab().archetype();
    const std::byte* initial = first.block_ + (own - block);
    for (std::uint32_t i = 0; i < type_->sync_vars.size(); ++i) {
        const Property& property = type_->sync_vars[i].property;
        if (type_->sync_vars[i].hook.call != nullptr && settings_.hook_style == HookStyle::Mirror &&
            !equal_values(property, own + property.offset, initial + property.offset)) {
            run_hook(i, initial + property.offset, own + property.offset);
        }
    }
}

namespace detail {

bool before_sync_var_changes(void* variable, const SyncVarLink& link, const void* next) {
    NetworkBehaviour& behaviour = NetworkBehaviour::behaviour_of(variable, link);
    if (!behaviour.may_become(link.bit, next)) {
        return false;
    }
    const bool may_hold_references = behaviour.may_hold_references(link.bit);
    const StoredReferences::ChangeScope change(may_hold_references ? behaviour.stored_references()
                                                                   : nullptr);
    if (may_hold_references) {
        if (!behaviour.may_name(link.bit, next)) {
            return false;
        }
        behaviour.before_reference_changes(link.bit, next);
    }
    if (behaviour.settings_.hook_style == HookStyle::UNet &&
        behaviour.runs_hooks_on_assignment(link.bit)) {
        behaviour.run_hook(link.bit, variable, next);
    }
    return true;
}

void before_sync_var_is_modified(void* variable, const SyncVarLink& link) {
    NetworkBehaviour& behaviour = NetworkBehaviour::behaviour_of(variable, link);
    StoredReferences* const references = behaviour.stored_references();
    if (references != nullptr && behaviour.may_hold_references(link.bit)) {
        references->settle();
    }
}

void after_sync_var_changed(void* variable, const SyncVarLink& link, const void* previous) {
    NetworkBehaviour& behaviour = NetworkBehaviour::behaviour_of(variable, link);
    if (behaviour.may_hold_references(link.bit)) {
        behaviour.note_references(link.bit);
    }
    behaviour.set_dirty_bit(bit_of(link.bit));
    if (behaviour.settings_.hook_style == HookStyle::Mirror &&
        behaviour.runs_hooks_on_assignment(link.bit)) {
        behaviour.run_hook(link.bit, previous, variable);
    }
}

}  // namespace detail

}  // namespace replayout::syncvar
