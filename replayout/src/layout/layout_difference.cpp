// SPDX-License-Identifier: MIT
#include <replayout/layout_difference.h>

#include <replayout/layout_description.h>
#include <replayout/reflection/printable.h>

#include "layout_explanation.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] std::string_view leaf_form_text(LeafForm form) noexcept {
    constexpr std::string_view texts[] = {
        "nothing",           "1 bit",         "8 bits",   "16 bits",   "32 bits",
        "64 bits",           "3 floats",      "4 floats", "text",      "object reference",
        "NetSerializer",     "dynamic array", "optional", "quantised", "keyed array",
        "NetDeltaSerializer"};
    return texts[static_cast<std::size_t>(form)];
}

[[nodiscard]] std::string leaf_kind_text(const DescribedCmd& cmd,
                                         std::optional<std::uint8_t> kind) {
    if (!kind.has_value() || *kind > static_cast<std::uint8_t>(PropertyKind::Optional)) {
        return std::string(leaf_form_text(cmd.form));
    }
    const auto known = static_cast<PropertyKind>(*kind);
    std::string text(to_string(known));
    const bool is_wide_or_not = known == PropertyKind::Enum || known == PropertyKind::Struct ||
                                known == PropertyKind::DynamicArray;
    if (is_wide_or_not && cmd.form != LeafForm::DynamicArray) {
        text += " (" + std::string(leaf_form_text(cmd.form)) + ')';
    }
    return text;
}

[[nodiscard]] std::string quantisation_text(const DescribedCmd& cmd) {
    const bool is_quantised =
        cmd.form == LeafForm::Quantised && cmd.quantisation.form != QuantisationForm::None;
    return is_quantised ? to_string(cmd.quantisation) : "none";
}

[[nodiscard]] std::string array_key_text(const DescribedCmd& cmd) {
    return std::to_string(cmd.array_key.size) + " bytes" +
           (cmd.array_key.order == ArrayOrder::Kept ? ", order kept" : "");
}

[[nodiscard]] std::string function_text(const ExplainedFunction& function) {
    constexpr std::pair<FunctionFlags, std::string_view> flags[] = {
        {FunctionFlags::Server, "server"},       {FunctionFlags::Client, "client"},
        {FunctionFlags::Multicast, "multicast"}, {FunctionFlags::Reliable, "reliable"},
        {FunctionFlags::Remote, "remote"},
    };
    std::string text;
    for (const auto& [flag, word] : flags) {
        if (has_flag(static_cast<FunctionFlags>(function.flags), flag)) {
            text += std::string(word) + ' ';
        }
    }
    constexpr std::string_view digits = "0123456789abcdef";
    text += "with ";
    if (function.parameters == 0) {
        return text + "no parameters";
    }
    text += "parameters #";
    for (int shift = 28; shift >= 0; shift -= 4) {
        text += digits[(function.parameters >> shift) & 15];
    }
    return text;
}

/// Compares two explanations in the order of handles, up to the first difference.
class LayoutComparer {
  public:
    LayoutComparer(const LayoutExplanation& ours, const LayoutExplanation& theirs)
        : ours_(ours), theirs_(theirs), has_kinds_(!ours.kinds.empty() && !theirs.kinds.empty()) {}

    [[nodiscard]] LayoutDifference run() {
        if (ours_.description.name != theirs_.description.name) {
            set(LayoutAspect::Class, {}, std::string(ours_.description.name),
                std::string(theirs_.description.name));
        }
        compare_lists(0, 0, "");
        if (!found_) {
            compare_limits();
        }
        if (!found_ && has_kinds_) {
            compare_functions();
        }
        return found_.value_or(LayoutDifference{});
    }

  private:
    void set(LayoutAspect aspect, std::string name, std::string here, std::string there) {
        if (!found_) {
            found_ = LayoutDifference{aspect, std::move(name), std::move(here), std::move(there)};
        }
    }

    [[nodiscard]] static bool has(const LayoutDescription& description, std::uint32_t begin,
                                  std::string_view name) noexcept {
        std::uint32_t index = begin;
        while (description.cmds[index].form != LeafForm::End &&
               description.cmds[index].name != name) {
            index = description.cmds[index].end;
        }
        return description.cmds[index].form != LeafForm::End;
    }

    [[nodiscard]] static std::string path_of(const std::string& path, std::string_view name) {
        if (path.empty() || name.empty()) {
            return path + std::string(name);
        }
        return path + '.' + std::string(name);
    }

    void compare_lists(std::uint32_t our_begin, std::uint32_t their_begin,
                       const std::string& path) {
        std::uint32_t our_index = our_begin;
        std::uint32_t their_index = their_begin;
        while (!found_) {
            const DescribedCmd& ours = ours_.description.cmds[our_index];
            const DescribedCmd& theirs = theirs_.description.cmds[their_index];
            const bool is_our_end = ours.form == LeafForm::End;
            const bool is_their_end = theirs.form == LeafForm::End;
            if (is_our_end && is_their_end) {
                return;
            }
            if (is_our_end || is_their_end || ours.name != theirs.name) {
                name_difference(our_index, their_index, path);
                return;
            }
            compare_leaves(our_index, their_index, path_of(path, ours.name));
            our_index = ours.end;
            their_index = theirs.end;
        }
    }

    /// Names the difference where the leaves of the two lists have other names.
    void name_difference(std::uint32_t our_index, std::uint32_t their_index,
                         const std::string& path) {
        const DescribedCmd& ours = ours_.description.cmds[our_index];
        const DescribedCmd& theirs = theirs_.description.cmds[their_index];
        // What stood before is the same, so what is missing is missing from here on.
        const bool is_ours_there =
            ours.form != LeafForm::End && has(theirs_.description, their_index, ours.name);
        const bool is_theirs_here =
            theirs.form != LeafForm::End && has(ours_.description, our_index, theirs.name);
        const std::string our_path = path_of(path, ours.name);
        const std::string their_path = path_of(path, theirs.name);
        if (theirs.form == LeafForm::End || (is_theirs_here && !is_ours_there)) {
            set(LayoutAspect::Presence, our_path, "present", {});
        } else if (ours.form == LeafForm::End || (is_ours_there && !is_theirs_here)) {
            set(LayoutAspect::Presence, their_path, {}, "present");
        } else if (is_ours_there) {
            set(LayoutAspect::Order, {}, our_path, their_path);
        } else {
            set(LayoutAspect::Name, {}, our_path, their_path);
        }
    }

    void compare_leaves(std::uint32_t our_index, std::uint32_t their_index,
                        const std::string& path) {
        const DescribedCmd& ours = ours_.description.cmds[our_index];
        const DescribedCmd& theirs = theirs_.description.cmds[their_index];
        const bool is_array = ours.form == LeafForm::DynamicArray ||
                              ours.form == LeafForm::Optional || ours.form == LeafForm::KeyedArray;
        const bool is_quantised =
            ours.form == LeafForm::Quantised || theirs.form == LeafForm::Quantised;
        const bool is_of_one_kind =
            !has_kinds_ || ours_.kinds[our_index] == theirs_.kinds[their_index];
        const std::string our_quantisation = quantisation_text(ours);
        const std::string their_quantisation = quantisation_text(theirs);
        if (!is_of_one_kind || (ours.form != theirs.form && !is_quantised)) {
            set(LayoutAspect::Kind, path, leaf_kind_text(ours, kind_of(ours_, our_index)),
                leaf_kind_text(theirs, kind_of(theirs_, their_index)));
        } else if (our_quantisation != their_quantisation) {
            set(LayoutAspect::Quantisation, path, our_quantisation, their_quantisation);
        } else if (ours.struct_name != theirs.struct_name) {
            set(LayoutAspect::Struct, path, std::string(ours.struct_name),
                std::string(theirs.struct_name));
        } else if (ours.array_key.size != theirs.array_key.size ||
                   ours.array_key.order != theirs.array_key.order) {
            set(LayoutAspect::Key, path, array_key_text(ours), array_key_text(theirs));
        } else if (ours.checksum != theirs.checksum) {
            const std::string form = leaf_kind_text(ours, kind_of(ours_, our_index));
            set(LayoutAspect::Kind, path, form, "other " + form);
        } else if (is_array) {
            compare_lists(our_index + 1, their_index + 1, path + "[]");
        }
    }

    [[nodiscard]] std::optional<std::uint8_t> kind_of(const LayoutExplanation& explanation,
                                                      std::uint32_t index) const {
        return has_kinds_ ? std::optional(explanation.kinds[index]) : std::nullopt;
    }

    /// The path of the first leaf with one of these forms, at any depth.
    [[nodiscard]] std::string find_path(std::uint32_t begin, const std::string& path, LeafForm form,
                                        LeafForm other_form) const {
        const std::vector<DescribedCmd>& cmds = ours_.description.cmds;
        for (std::uint32_t index = begin; cmds[index].form != LeafForm::End;
             index = cmds[index].end) {
            const std::string own = path_of(path, cmds[index].name);
            if (cmds[index].form == form || cmds[index].form == other_form) {
                return own;
            }
            if (cmds[index].end > index + 1) {
                std::string inner = find_path(index + 1, own + "[]", form, other_form);
                if (!inner.empty()) {
                    return inner;
                }
            }
        }
        return {};
    }

    void compare_limits() {
        const RepLimits& ours = ours_.description.limits;
        const RepLimits& theirs = theirs_.description.limits;
        if (ours.string_bytes_max != theirs.string_bytes_max) {
            set(LayoutAspect::TextLimit, find_path(0, "", LeafForm::Text, LeafForm::Text),
                std::to_string(ours.string_bytes_max), std::to_string(theirs.string_bytes_max));
        }
        if (ours.array_count_max != theirs.array_count_max) {
            set(LayoutAspect::ArrayLimit,
                find_path(0, "", LeafForm::DynamicArray, LeafForm::KeyedArray),
                std::to_string(ours.array_count_max), std::to_string(theirs.array_count_max));
        }
    }

    void compare_functions() {
        const std::size_t count = std::max(ours_.functions.size(), theirs_.functions.size());
        for (std::size_t i = 0; i < count && !found_; ++i) {
            const bool is_here = i < ours_.functions.size();
            const bool is_there = i < theirs_.functions.size();
            const std::string here = is_here ? function_text(ours_.functions[i]) : std::string();
            const std::string there =
                is_there ? function_text(theirs_.functions[i]) : std::string();
            if (!is_here || !is_there) {
                const auto& functions = is_here ? ours_.functions : theirs_.functions;
                set(LayoutAspect::Function, std::string(functions[i].name), here, there);
            } else if (ours_.functions[i].name != theirs_.functions[i].name) {
                compare_function_names(i);
            } else if (here != there) {
                set(LayoutAspect::Function, std::string(ours_.functions[i].name), here, there);
            }
        }
    }

    void compare_function_names(std::size_t index) {
        const ExplainedFunction& ours = ours_.functions[index];
        const ExplainedFunction& theirs = theirs_.functions[index];
        const auto has_function = [index](const std::vector<ExplainedFunction>& functions,
                                          std::string_view name) {
            return std::any_of(
                functions.begin() + static_cast<std::ptrdiff_t>(index), functions.end(),
                [name](const ExplainedFunction& function) { return function.name == name; });
        };
        if (!has_function(ours_.functions, theirs.name) &&
            has_function(theirs_.functions, ours.name)) {
            set(LayoutAspect::Function, std::string(theirs.name), {}, function_text(theirs));
        } else {
            const bool is_ours_there = has_function(theirs_.functions, ours.name);
            set(LayoutAspect::Function, std::string(ours.name), function_text(ours),
                is_ours_there ? "at another place" : std::string());
        }
    }

    const LayoutExplanation& ours_;
    const LayoutExplanation& theirs_;
    const bool has_kinds_;
    std::optional<LayoutDifference> found_;
};

[[nodiscard]] std::string difference_text(const std::string& text) {
    return printable_front(text, difference_text_bytes_max);
}

[[nodiscard]] std::string_view aspect_text(LayoutAspect aspect) noexcept {
    switch (aspect) {
        case LayoutAspect::Quantisation:
            return "quantisation ";
        case LayoutAspect::Struct:
            return "struct ";
        case LayoutAspect::Key:
            return "a key of ";
        case LayoutAspect::TextLimit:
            return "text limit (RepLimits::string_bytes_max) ";
        case LayoutAspect::ArrayLimit:
            return "array limit (RepLimits::array_count_max) ";
        default:
            return "";
    }
}

[[nodiscard]] std::string of_the_class(const LayoutDifference& difference) {
    const std::string here = difference.here.empty() ? "here" : "there";
    if (!difference.here.empty() && !difference.there.empty()) {
        return "it is \"" + difference_text(difference.here) + "\" here and \"" +
               difference_text(difference.there) + "\" there";
    }
    return "the class is missing " + here + ": call add_layout() " + here + ", too";
}

}  // namespace

Result<LayoutDifference> find_layout_difference(const RepLayout& ours,
                                                std::span<const std::byte> explanation) {
    const Result<LayoutExplanation> theirs = read_layout_explanation(explanation);
    if (!theirs) {
        return theirs.error();
    }
    const Vector<std::byte> own = explain_layout(ours, std::pmr::get_default_resource());
    const Result<LayoutExplanation> read = read_layout_explanation({own.data(), own.size()});
    if (!read) {
        return read.error();
    }
    return LayoutComparer(*read, *theirs).run();
}

Result<LayoutDifference> find_described_difference(const RepLayout& ours,
                                                   std::span<const std::byte> description) {
    Result<LayoutDescription> theirs = read_layout_description(description);
    if (!theirs) {
        return theirs.error();
    }
    const Vector<std::byte> own = describe_layout(ours, std::pmr::get_default_resource());
    Result<LayoutDescription> read = read_layout_description({own.data(), own.size()});
    if (!read) {
        return read.error();
    }
    return LayoutComparer({*std::move(read), {}, {}}, {*std::move(theirs), {}, {}}).run();
}

std::string to_sentence(const LayoutDifference& difference) {
    const std::string name = '"' + difference_text(difference.name) + '"';
    const std::string here = difference_text(difference.here);
    const std::string there = difference_text(difference.there);
    const std::string where = difference.here.empty() ? "here" : "there";
    switch (difference.aspect) {
        case LayoutAspect::Class:
            return of_the_class(difference);
        case LayoutAspect::Presence:
            return "property " + name + " is missing " + where;
        case LayoutAspect::Name:
            return "property \"" + here + "\" here has the place of property \"" + there +
                   "\" there";
        case LayoutAspect::Order:
            return "the order of properties: \"" + here + "\" here comes where \"" + there +
                   "\" does there";
        case LayoutAspect::Function:
            if (difference.here.empty() || difference.there.empty()) {
                return "function " + name + " is missing " + where;
            }
            return "function " + name + ": " + here + " here, " + there + " there";
        case LayoutAspect::Other:
            return "no property, limit or function: the bounds of structs or bases, or the name of "
                   "a key";
        default:
            break;
    }
    std::string text;
    if (!difference.name.empty()) {
        text = "property " + name + ": ";
    }
    return text + std::string(aspect_text(difference.aspect)) + here + " here, " + there + " there";
}

}  // namespace replayout
