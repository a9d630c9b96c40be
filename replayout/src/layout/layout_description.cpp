// SPDX-License-Identifier: MIT
#include <replayout/layout_description.h>

#include <replayout/bit_reader.h>
#include <replayout/reflection/printable.h>
#include <replayout/reflection/type.h>
#include <replayout/utf8.h>

#include "layout_description_reader.h"
#include "rep_layout_builder.h"

#include <bit>
#include <limits>
#include <utility>

namespace replayout {

namespace {

constexpr std::size_t description_bytes_initial = 1'024;
// As much of a peer's text as goes into a sentence.
constexpr std::size_t refused_name_bytes_max = 64;

/// The names of leaves, in the order in which RepLayoutBuilder lays them down.
class LeafNamer {
  public:
    explicit LeafNamer(const RepLayout& layout) : layout_(layout) {
        names_.reserve(layout.cmds().size());
    }

    [[nodiscard]] std::vector<std::string> run() {
        add_members(layout_.type(), "");
        names_.emplace_back();  // the last Return
        REPLAYOUT_ASSERT(names_.size() == layout_.cmds().size());
        return std::move(names_);
    }

  private:
    void add_members(const Type& type, const std::string& prefix, const KeyLocation& key = {}) {
        if (type.base() != nullptr) {
            add_members(*type.base(), prefix, key.within(type.base_offset()));
        }
        for (const Property& property : type.properties()) {
            for (std::uint32_t index = 0; property.is_replicated && index < property.array_dim;
                 ++index) {
                const std::string suffix =
                    property.array_dim > 1 ? "[" + std::to_string(index) + "]" : std::string();
                const KeyLocation location = key.within(property.offset + index * property.size);
                if (!location.is_of(property)) {
                    add_property(property, prefix + property.name + suffix, location);
                }
            }
        }
    }

    void add_property(const Property& property, const std::string& name,
                      const KeyLocation& location) {
        if (property.kind == PropertyKind::Struct &&
            !property.struct_type->traits().has_net_serializer &&
            !property.struct_type->traits().has_net_delta_serializer) {
            add_members(*property.struct_type, name.empty() ? name : name + ".", location);
            return;
        }
        names_.push_back(name);
        if (is_array(property.kind)) {
            add_property(*property.element, "", KeyLocation{&property.array_key, 0});
            names_.emplace_back();
        }
    }

    const RepLayout& layout_;
    std::vector<std::string> names_;
};

class DescriptionReader {
  public:
    explicit DescriptionReader(std::span<const std::byte> description) : reader_(description) {}

    [[nodiscard]] Result<LayoutDescription> run() {
        if (reader_.read_bits(8) != layout_description_version) {
            refuse("is of another version");
        }
        description_.name = read_described_text(reader_);
        description_.limits.string_bytes_max = reader_.read_packed_uint32();
        description_.limits.array_count_max = reader_.read_packed_uint32();
        (void)read_leaves(0);
        if (reader_.failed() || reader_.bits_left() != 0) {
            refuse("is malformed");
        }
        if (problem_ != nullptr) {
            return Error{ErrorCode::MalformedDescription,
                         "description of layout \"" +
                             printable_front(description_.name, refused_name_bytes_max) + "\" " +
                             problem_};
        }
        return std::move(description_);
    }

  private:
    void refuse(const char* problem) noexcept {
        problem_ = problem_ == nullptr ? problem : problem_;
        reader_.fail();
    }

    /// Up to the end of the list. Returns how many leaves it has.
    std::uint32_t read_leaves(std::uint32_t depth) {
        std::uint32_t count = 0;
        for (;;) {
            const std::uint64_t form = reader_.read_bits(8);
            if (form > static_cast<std::uint64_t>(LeafForm::NetDeltaSerializer)) {
                refuse("has a leaf of a form that is not known here");
            } else if (description_.cmds.size() > cmd_count_max) {
                // Behind as many leaves as there can be there is room for the end of the class.
                refuse("has too many leaves");
            }
            if (reader_.failed()) {
                return count;
            }
            const auto index = static_cast<std::uint32_t>(description_.cmds.size());
            description_.cmds.push_back(
                {static_cast<LeafForm>(form), 0, index + 1, {}, {}, {}, {}});
            if (form == 0) {
                return count;
            }
            ++count;
            read_leaf(index, depth);
        }
    }

    void read_leaf(std::uint32_t index, std::uint32_t depth) {
        DescribedCmd& cmd = description_.cmds[index];
        cmd.checksum = static_cast<std::uint32_t>(reader_.read_bits(32));
        cmd.name = read_described_text(reader_);
        switch (cmd.form) {
            case LeafForm::NetSerializer:
                cmd.struct_name = read_described_text(reader_);
                return;
            case LeafForm::NetDeltaSerializer:
                cmd.struct_name = read_described_text(reader_);
                if (depth > 0) {
                    refuse("has a NetDeltaSerializer inside of an array");
                }
                return;
            case LeafForm::KeyedArray:
                read_key(cmd.array_key, depth);
                read_element(index, depth);
                return;
            case LeafForm::DynamicArray:
            case LeafForm::Optional:
                read_element(index, depth);
                return;
            case LeafForm::Quantised:
                read_quantisation(cmd.quantisation);
                return;
            default:
                return;
        }
    }

    void read_key(ArrayKey& key, std::uint32_t depth) {
        const std::uint64_t size = reader_.read_bits(8);
        const std::uint64_t order = reader_.read_bits(8);
        const bool is_size = size == 1 || size == 2 || size == 4 || size == 8;
        if (!reader_.failed() && (!is_size || order > 1 || depth != 0)) {
            refuse("has a keyed array that makes no sense");
            return;
        }
        key.size = static_cast<std::uint32_t>(size);
        key.order = static_cast<ArrayOrder>(order);
    }

    void read_element(std::uint32_t index, std::uint32_t depth) {
        if (depth == nesting_depth_max) {
            refuse("nests arrays too deep");
            return;
        }
        const std::uint64_t handle_count = read_leaves(depth + 1);
        DescribedCmd& cmd = description_.cmds[index];
        cmd.end = static_cast<std::uint32_t>(description_.cmds.size());
        const std::uint64_t count_max =
            cmd.form == LeafForm::Optional ? 1 : description_.limits.array_count_max;
        if (!reader_.failed() && handle_count == 0) {
            refuse("has an array whose element has no leaf");
        } else if (handle_count * count_max > array_handles_max) {
            refuse("has an array of too many leaves");
        }
    }

    void read_quantisation(Quantisation& quantisation) {
        const std::uint64_t form = reader_.read_bits(8);
        if (form == 0 || form > static_cast<std::uint64_t>(QuantisationForm::RealSteps)) {
            refuse("has a quantisation that is not known here");
            return;
        }
        quantisation.form = static_cast<QuantisationForm>(form);
        PropertyKind kind = PropertyKind::Vector;
        std::uint32_t size = 12;
        std::uint64_t step_count_told = 0;
        switch (quantisation.form) {
            case QuantisationForm::VectorSteps:
                quantisation.steps_per_unit = read_number<std::uint32_t>();
                break;
            case QuantisationForm::Angles:
            case QuantisationForm::SmallestThree:
                kind = quantisation.form == QuantisationForm::Angles ? PropertyKind::Rotator
                                                                     : PropertyKind::Quat;
                quantisation.bits = read_number<std::uint8_t>();
                break;
            case QuantisationForm::IntegerRange:
                kind = PropertyKind::Int64;
                size = 8;
                quantisation.integer_min = static_cast<std::int64_t>(reader_.read_bits(64));
                quantisation.integer_max = static_cast<std::int64_t>(reader_.read_bits(64));
                break;
            case QuantisationForm::RealSteps:
                kind = PropertyKind::Double;
                size = 8;
                quantisation.real_min = std::bit_cast<double>(reader_.read_bits(64));
                quantisation.real_max = std::bit_cast<double>(reader_.read_bits(64));
                step_count_told = read_number<std::uint32_t>();
                quantisation.real_step = step_of_count(quantisation.real_min, quantisation.real_max,
                                                       static_cast<std::uint32_t>(step_count_told));
                break;
            default:
                break;
        }
        if (!reader_.failed() && (!quantisation_problem(quantisation, kind, size).empty() ||
                                  (quantisation.form == QuantisationForm::RealSteps &&
                                   step_count(quantisation) != step_count_told))) {
            refuse("has a quantisation that makes no sense");
        }
    }

    /// A u64 that must fit.
    template <typename T>
    [[nodiscard]] T read_number() noexcept {
        const std::uint64_t number = reader_.read_bits(64);
        if (number > std::numeric_limits<T>::max()) {
            reader_.fail();
        }
        return static_cast<T>(number);
    }

    BitReader reader_;
    LayoutDescription description_;
    const char* problem_ = nullptr;  // the first
};

}  // namespace

void write_described_text(BitWriter& writer, std::string_view text) {
    writer.write_packed_uint(text.size());
    writer.write_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

std::string_view read_described_text(BitReader& reader) noexcept {
    const std::uint64_t byte_count = reader.read_packed_uint();
    if (byte_count > reader.bits_left() / 8) {
        reader.fail();
        return {};
    }
    const std::span<const std::byte> bytes = reader.take_bytes(byte_count);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!is_valid_utf8(text)) {
        reader.fail();
        return {};
    }
    return text;
}

LeafForm leaf_form_of(const RepLayoutCmd& cmd) noexcept {
    using enum LeafForm;
    // In the order of RepLayoutCmdType.
    static constexpr LeafForm forms[] = {
        Bit,       Bits8,         Bits16,       Bits32,
        Bits64,    ThreeFloats,   FourFloats,   Text,
        Reference, NetSerializer, DynamicArray, End,
        Bit,       Quantised,     KeyedArray,   NetDeltaSerializer};
    static_assert(std::size(forms) ==
                  static_cast<std::size_t>(RepLayoutCmdType::NetDeltaStruct) + 1);
    const bool is_optional =
        cmd.type == RepLayoutCmdType::DynamicArray && cmd.property->kind == PropertyKind::Optional;
    return is_optional ? Optional : forms[static_cast<std::size_t>(cmd.type)];
}

std::uint32_t quantisation_numbers(const Quantisation& quantisation,
                                   std::uint64_t (&numbers)[3]) noexcept {
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps:
            numbers[0] = quantisation.steps_per_unit;
            return 1;
        case QuantisationForm::Angles:
        case QuantisationForm::SmallestThree:
            numbers[0] = quantisation.bits;
            return 1;
        case QuantisationForm::IntegerRange:
            numbers[0] = static_cast<std::uint64_t>(quantisation.integer_min);
            numbers[1] = static_cast<std::uint64_t>(quantisation.integer_max);
            return 2;
        case QuantisationForm::RealSteps:
            numbers[0] = std::bit_cast<std::uint64_t>(quantisation.real_min);
            numbers[1] = std::bit_cast<std::uint64_t>(quantisation.real_max);
            numbers[2] = step_count(quantisation);
            return 3;
        default:
            return 0;
    }
}

std::vector<std::string> leaf_names(const RepLayout& layout) {
    return LeafNamer(layout).run();
}

void write_layout_description(const RepLayout& layout, BitWriter& writer) {
    REPLAYOUT_EXPECT(
        !layout.is_receive_only(), void(),
        "describe_layout: the layout of a \"%s\" is only read with: describe the one of "
        "create()",
        std::string(layout.name()).c_str());
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0);
    const std::vector<std::string> names = leaf_names(layout);
    writer.write_bits(layout_description_version, 8);
    write_described_text(writer, layout.type().name());
    writer.write_packed_uint(layout.limits().string_bytes_max);
    writer.write_packed_uint(layout.limits().array_count_max);
    for (std::size_t i = 0; i < layout.cmds().size(); ++i) {
        const RepLayoutCmd& cmd = layout.cmds()[i];
        const LeafForm form = leaf_form_of(cmd);
        writer.write_bits(static_cast<std::uint64_t>(form), 8);
        if (form == LeafForm::End) {
            continue;
        }
        writer.write_bits(cmd.checksum, 32);
        write_described_text(writer, names[i]);
        if (form == LeafForm::NetSerializer || form == LeafForm::NetDeltaSerializer) {
            write_described_text(writer, cmd.property->struct_type->name());
        } else if (form == LeafForm::KeyedArray) {
            writer.write_bits(cmd.property->array_key.size, 8);
            writer.write_bits(static_cast<std::uint64_t>(cmd.property->array_key.order), 8);
        } else if (form == LeafForm::Quantised) {
            const Quantisation& quantisation = cmd.property->quantisation;
            writer.write_bits(static_cast<std::uint64_t>(quantisation.form), 8);
            std::uint64_t numbers[3]{};
            const std::uint32_t count = quantisation_numbers(quantisation, numbers);
            for (std::uint32_t number = 0; number < count; ++number) {
                writer.write_bits(numbers[number], 64);
            }
        }
    }
}

Vector<std::byte> describe_layout(const RepLayout& layout, MemoryResource* resource) {
    Vector<std::byte> bytes{Allocator<std::byte>(resource)};
    for (bytes.resize(description_bytes_initial);; bytes.resize(bytes.size() * 2)) {
        BitWriter writer({bytes.data(), bytes.size()});
        write_layout_description(layout, writer);
        if (!writer.overflowed()) {
            bytes.resize(writer.byte_count());
            return bytes;
        }
    }
}

std::string_view described_name(std::span<const std::byte> description) noexcept {
    BitReader reader(description);
    const bool is_known = reader.read_bits(8) == layout_description_version;
    const std::string_view name = read_described_text(reader);
    return is_known && !reader.failed() ? name : std::string_view();
}

Result<LayoutDescription> read_layout_description(std::span<const std::byte> description) {
    return DescriptionReader(description).run();
}

}  // namespace replayout
