// SPDX-License-Identifier: MIT
//
// Cuts one keyed array between elements, in the order of keys. Where full sets are needed in some
// places only, a part is a full set or none; and nothing is said of places where nothing is owed.
//
//     places     0       1 ......... 40   41 ......... 80   81 ......... 120
//     owed       one     a few            full set          nothing
//     parts      [deletions, elements]    [full set][..]
#pragma once

#include "keyed_array_writer.h"
#include "property_writer.h"

#include <optional>

namespace replayout {

class KeyedArrayCutter {
  public:
    KeyedArrayCutter(const ShadowKeyedArray& array, PropertyWriter& properties, RepHandle handle,
                     BitWriter& writer, SendScratch& scratch)
        : array_(array),
          keyed_(properties.keyed_array(handle)),
          scratch_(scratch),
          handle_(handle),
          writer_(writer) {
        keyed_.plan_parts();
    }

    /// Writes what fits of what is owed from `place` on. Nothing when none fits.
    [[nodiscard]] std::optional<KeyedPart> write(std::uint64_t place);

    /// Where it goes on behind a part. Nothing: that was the last.
    [[nodiscard]] std::optional<std::uint64_t> next(const KeyedPart& part);

    /// What is lost if that part is, besides what lay within its places before (collect_carried):
    /// deletions of the keys of other places were named in it, or it takes their place.
    void collect_carried_deletions(const KeyedPart& part, const OwedVersions& position,
                                   Vector<LostPart>& carried) const;

  private:
    /// From `place` on to the next cut that must be. Nothing: there is nothing to be said.
    [[nodiscard]] std::optional<KeyedPart> find_stretch(std::uint64_t place);
    /// Deletions that the part names for a loss in other places go by the places of their keys.
    void collect_deletions_elsewhere(const KeyedPart& part, const LostPart& lost,
                                     Vector<LostPart>& carried) const;
    [[nodiscard]] bool try_write(const KeyedPart& part);
    void write_once(const KeyedPart& part);
    /// `stretch` as far as the element at `end`, which is not its last.
    [[nodiscard]] KeyedPart cut(const KeyedPart& stretch, std::uint32_t end) const noexcept;

    const ShadowKeyedArray& array_;
    KeyedArrayWriter keyed_;
    SendScratch& scratch_;
    RepHandle handle_;
    BitWriter& writer_;
    BitWriter::Mark start_ = writer_.mark();
};

}  // namespace replayout
