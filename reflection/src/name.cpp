// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/name.h>

namespace replayout {
namespace {

std::string_view view_name(const void* name, const void* table) {
    return static_cast<const NameTable*>(table)->text(*static_cast<const Name*>(name));
}

bool assign_name(void* name, std::string_view text, void* table) {
    const std::optional<Name> interned = static_cast<NameTable*>(table)->intern(text);
    if (!interned) {
        return false;
    }
    *static_cast<Name*>(name) = *interned;
    return true;
}

}  // namespace

NameTable::NameTable(std::uint32_t count_max, MemoryResource* resource)
    : count_max_(count_max), texts_(resource), ids_(resource) {}

std::optional<Name> NameTable::intern(std::string_view text) {
    if (text.empty()) {
        return Name{};
    }
    if (const auto found = ids_.find(text); found != ids_.end()) {
        return Name{found->second};
    }
    if (count() >= count_max_) {
        return std::nullopt;
    }
    // The key views the text in the deque: a deque that only grows at its end never moves an
    // element, so each text is held once.
    const PmrString& kept = texts_.emplace_back(text);
    const std::uint32_t id = count();
    ids_.emplace(std::string_view(kept), id);
    return Name{id};
}

std::string_view NameTable::text(Name name) const noexcept {
    REPLAYOUT_ASSERT(name.id <= count());
    if (name.id == 0 || name.id > count()) {
        return {};
    }
    return texts_[name.id - 1];
}

std::uint32_t NameTable::count() const noexcept {
    return static_cast<std::uint32_t>(texts_.size());
}

StringOps NameTable::string_ops() noexcept {
    return {view_name, assign_name, this};
}

}  // namespace replayout
