// SPDX-License-Identifier: MIT
//
// Of an array that is larger than a packet, as many elements as one part holds. Keyed arrays:
// keyed_array_cutter.h.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>

#include "property_writer.h"

#include <cstdint>

namespace replayout {

class DynamicArrayCutter {
  public:
    DynamicArrayCutter(PropertyWriter& properties, ChangeMask& part, RepHandle handle,
                       BitWriter& writer)
        : properties_(properties), part_(part), handle_(handle), writer_(writer) {
        part_.set(handle.value - 1);
    }

    /// Writes as many elements from `begin` on as fit. Returns the end; `begin` when none fits.
    [[nodiscard]] std::uint32_t write(std::uint32_t begin, std::uint32_t count) {
        std::uint32_t fitting = begin;
        std::uint32_t too_many = count + 1;
        while (fitting + 1 < too_many) {
            const std::uint32_t end = fitting + (too_many - fitting) / 2;
            if (try_write({begin, end})) {
                fitting = end;
            } else {
                too_many = end;
            }
        }
        if (fitting > begin) {
            writer_.rewind(start_);
            write_once({begin, fitting});
        }
        return fitting;
    }

  private:
    bool try_write(ElementSpan span) {
        writer_.rewind(start_);
        write_once(span);
        const bool fits = !writer_.overflowed();
        writer_.rewind(start_);
        return fits;
    }

    void write_once(ElementSpan span) {
        write_change_mask(writer_, part_, EmptySet::Impossible);
        properties_.write_elements(handle_, span, writer_);
        writer_.finish_byte();
    }

    PropertyWriter& properties_;
    ChangeMask& part_;
    RepHandle handle_;
    BitWriter& writer_;
    BitWriter::Mark start_ = writer_.mark();
};

}  // namespace replayout
