# SPDX-License-Identifier: MIT
"""Makes the mutants of a C++ file: finds them, and writes all of them into one text.

It knows the house style (clang-format decides it): a relation has blanks on both sides, an angle
bracket has not; every body has braces. What it writes is at the same line as before.

  guard      `if (...) { refuse }` is never taken; an operand of its condition, of an answer or of a
             bool never holds (of ||) or always does (of &&)
  relation   its bound is one further, or one less: > to >=, > b to > 1 + b, == to >= and <=
  condition  is negated, or an operand is dropped that refuses nothing
  call       a statement `fail();`, `close(...);` is left out; `statement`: any other
  number     is one more, or one less
  bound      std::min, std::max, std::clamp: one side is always taken, or min is max
"""
import bisect
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<str>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<num>\.?\d(?:[\w.]|'\w|[eEpP][+-])*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<op><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)
CLOSING = {"(": ")", "[": "]", "{": "}"}
RELATIONS = {  # what is written, and how the two mutants read
    "<": ("Less", "<=", "< -1 +"), "<=": ("LessEqual", "<= 1 +", "<"),
    ">": ("Greater", ">=", "> 1 +"), ">=": ("GreaterEqual", ">= -1 +", ">"),
    "==": ("Equal", ">=", "<="), "!=": ("NotEqual", ">", "<"),
}
ASSERTS = re.compile(r"REPLAYOUT_(ASSERT|VALIDATE)\w*|static_assert|noexcept|alignas|decltype|sizeof")
REFUSING_CALL = re.compile(
    r"^(fail\w*|refuse\w*|reject\w*|close|close_\w+|end|spend\w*|strike\w*|drop|disconnect\w*"
    r"|forget\w*|kick\w*|erase_peer|count_strike)$")
REFUSING_WORD = re.compile(
    r"\b(fail\w*|refuse\w*|reject\w*|close\w*|end|spend\w*|strike\w*|disconnect\w*|drop\w*|erase)"
    r"\((?!\))|\bfail\(|dropped|refused|over_rate|CloseReason::(?!None)|ConnectionState::Closed")
REFUSING_ANSWER = re.compile(
    r"^(false|nullptr|\{\}|0|std::nullopt|.*(Malformed|Refus|fail|[Ee]rror|CloseReason::|nullopt|"
    r"PacketReceipt::|CallResult::|Result::|::Corrupt|Status|Overflow|Dropped).*)$", re.S)
LIMIT_WORD = re.compile(
    r"fail|_max|limit|left\b|valid|budget|size\(\)|count|spend|bytes|full|expired|has_passed|bits_|"
    r"state|Closed|version|\.end\(\)|error|message|take|is_good|from|got_binary|contains|peer|can_|"
    r"sequence|session|handshake|next_\w+_us")
SPENDING = re.compile(r"\b(spend\w*|take|take_bunch|take_part|begin_keyed_array)\(")
COUNTED = re.compile(r"budget|steps|allocation|level|count|bytes|waiting|taken|strikes|size|used|"
                     r"pending|held|peers|references")


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    partner: int = -1  # of a bracket


@dataclass
class Mutant:
    file: str
    line: int
    kind: str
    is_limit: bool
    before: str
    after: str
    edit: tuple  # (start, end, replacement) of the text
    number: int = -1  # in the program
    nth: int = 0  # of those of the same text in this file

    @property
    def key(self):
        return (self.file, self.before, self.after, self.nth)

    def __str__(self):
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


@dataclass
class Site:
    """A place, and the mutants of it, whose numbers follow each other."""
    kind: str
    start: int
    end: int
    code: str  # {n}: the number of the first
    variants: list  # (start, end, text, is_limit): how each reads
    is_wrapped: bool = True  # in `code` and `)`, else the text is replaced
    end_code: str = ")"
    mutants: list = field(default_factory=list)
    is_off: bool = False


def tokens_of(text):
    tokens, stack = [], []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        position = match.end()
        if match.lastgroup == "space":
            continue
        token = Token(match.lastgroup, match.group(), match.start(), match.end())
        tokens.append(token)
        if token.text in CLOSING and token.kind == "op":
            stack.append(len(tokens) - 1)
        elif token.text in CLOSING.values() and token.kind == "op" and stack:
            token.partner = stack.pop()
            tokens[token.partner].partner = len(tokens) - 1
    return tokens


class Finder:
    def __init__(self, file, text, are_numbers_limits=False):
        self.file, self.text = file, text
        self.are_numbers_limits = are_numbers_limits
        self.tokens = tokens_of(text)
        self.sites = []
        self.skipped = [False] * len(self.tokens)
        self.polarity = {}  # token of a relation: is (more, less) a limit?
        self.mark_skipped()

    def find(self):
        for index, token in enumerate(self.tokens):
            if self.skipped[index]:
                continue
            if token.text == "if":
                self.take_if(index)
            elif token.text in ("while", "for"):
                self.take_loop(index)
            elif token.text == "return":
                self.take_answer(index + 1)
            elif token.text == "=" and self.is_bool(index):
                self.take_answer(index + 1)
            if index > 0 and self.tokens[index - 1].text in (";", "{", "}"):
                self.take_statement(index)
        for index, token in enumerate(self.tokens):
            if not self.skipped[index]:
                self.take_token(index, token)
        self.sites.sort(key=lambda site: (site.start, -site.end))
        return self.sites

    # What is not touched

    def skip(self, first, last):
        for index in range(first, last + 1):
            self.skipped[index] = True

    def mark_skipped(self):
        tokens = self.tokens
        is_code = [False] * len(tokens)
        for index, token in enumerate(tokens):
            before = tokens[index - 1].text if index else ""
            if token.text == "{" and before in (")", "noexcept", "const", "override", "final") or \
                    token.text == "{" and before == "]":
                for inner in range(index + 1, token.partner):
                    is_code[inner] = True
        for index, token in enumerate(tokens):
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            if not is_code[index]:
                self.skipped[index] = True
            if following is None or token.kind != "id":
                continue
            if ASSERTS.fullmatch(token.text) and following.text == "(":
                self.skip(index, following.partner)
            elif token.text in ("requires", "operator") or token.text == "case":
                self.skip(index, index + 2)
            elif token.text == "template" and following.text == "<":
                self.skip(index, self.end_of_angles(index + 1))
            elif token.text in ("enum", "using", "constexpr"):
                self.skip_declaration(index)

    def skip_declaration(self, index):
        """A constant: up to its end. A function is none, but `if constexpr (...)` has a condition."""
        end = index
        while self.tokens[end].text not in ("(", "=", "{", ";", "["):
            end += 1
        if self.tokens[end].text == "(":
            if self.tokens[index - 1].text == "if":
                self.skip(index - 1, self.tokens[end].partner)
            return
        self.skip(index, self.end_of_statement(end))

    def end_of_angles(self, index):
        depth = 0
        while True:
            text = self.tokens[index].text
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            if depth <= 0:
                return index
            index += 1

    def end_of_statement(self, index):
        """The `;`, or the bracket that closes what it is in."""
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.text == ";":
                return index
            if token.text in CLOSING:
                index = token.partner
            elif token.text in CLOSING.values():
                return index
            index += 1
        return len(self.tokens) - 1

    # Expressions

    def split(self, first, last, separators):
        """The parts of [first, last) between separators that are in no bracket."""
        parts, begin, index = [], first, first
        while index < last:
            token = self.tokens[index]
            if token.text in CLOSING:
                index = token.partner
            elif token.text in separators and token.kind == "op":
                parts.append((begin, index))
                begin = index + 1
            index += 1
        parts.append((begin, last))
        return parts

    def source(self, first, last):
        return self.text[self.tokens[first].start:self.tokens[last - 1].end]

    def wrap(self, kind, first, last, code, after, is_limit):
        if first >= last or any(self.skipped[first:last]):
            return
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        site = Site(kind, start, end, f"::mutant::{code}<{{n}}>(", [(start, end, after, is_limit)])
        # What a condition does is done still, so that what was to be read is read; but who drops
        # that a budget is spent does not spend it.
        if code != "negated" and SPENDING.search(self.text[start:end]):
            skip = {"always": "::mutant::skips<{n}>() || ", "never": "!::mutant::skips<{n}>() && "}
            site.code = "(" + skip[code] + site.code
            site.end_code = "))"
        self.sites.append(site)

    def take_operands(self, first, last, drops_any, drops_all):
        """`drops_any`, `drops_all`: whether it is a limit that an operand of ||, of && is dropped."""
        if last <= first:
            return
        parts = self.split(first, last, ("||",))
        is_any = len(parts) > 1
        if not is_any:
            parts = self.split(first, last, ("&&",))
        if len(parts) == 1:
            if self.tokens[first].text == "(" and self.tokens[first].partner == last - 1:
                self.take_operands(first + 1, last - 1, drops_any, drops_all)
            else:
                self.note_relation(first, last, drops_all, drops_any)
            return
        for begin, end in parts:
            if is_any:
                self.wrap("guard" if drops_any else "condition", begin, end, "never", "false",
                          drops_any)
            else:
                self.wrap("guard" if drops_all else "condition", begin, end, "always", "true",
                          drops_all)
            self.take_operands(begin, end, drops_any, drops_all)

    def note_relation(self, first, last, more, less):
        parts = self.split(first, last, tuple(RELATIONS))
        if len(parts) == 2 and self.is_relation(parts[1][0] - 1):
            self.polarity[parts[1][0] - 1] = (more, less)

    def is_relation(self, index):
        token = self.tokens[index]
        if token.text not in RELATIONS or token.kind != "op":
            return False
        after = self.text[token.end:token.end + 1]
        return self.text[token.start - 1].isspace() and after.isspace()

    # Statements

    def take_if(self, index):
        if self.tokens[index + 1].text != "(":
            return
        close = self.tokens[index + 1].partner
        first, last = self.split(index + 2, close, (";",))[-1]
        if len(self.split(first, last, ("=",))) > 1 or self.tokens[close + 1].text != "{":
            return
        is_refusing = self.is_refusing(first, last, close + 1)
        condition = self.source(first, last)
        self.wrap("guard" if is_refusing else "condition", first, last, "never", "false",
                  is_refusing)
        self.wrap("condition", first, last, "negated", f"!({condition})", False)
        self.take_operands(first, last, is_refusing, False)

    def is_refusing(self, first, last, brace):
        end = self.tokens[brace].partner
        if end == brace + 1:
            return False
        statements = self.split(brace + 1, end, (";",))
        begin, stop = statements[-2] if len(statements) > 1 else statements[-1]
        if stop <= begin:
            return False
        if REFUSING_WORD.search(self.source(brace + 1, end)):
            return True
        what = self.tokens[begin].text
        if what == "return" and stop > begin + 1:
            return bool(REFUSING_ANSWER.match(self.source(begin + 1, stop))) or \
                bool(LIMIT_WORD.search(self.source(first, last)))
        return what == "break" or what in ("return", "continue") and \
            bool(LIMIT_WORD.search(self.source(first, last)))

    def take_loop(self, index):
        if self.tokens[index + 1].text != "(":
            return
        parts = self.split(index + 2, self.tokens[index + 1].partner, (";",))
        if self.tokens[index].text == "for" and len(parts) != 3:
            return
        first, last = parts[1] if len(parts) == 3 else parts[0]
        if last > first and len(self.split(first, last, ("=",))) == 1:
            is_limit = bool(re.search(r"spend|fail", self.source(first, last)))
            self.take_operands(first, last, False, is_limit)

    def is_bool(self, index):
        return index > 1 and self.tokens[index - 1].kind == "id" and (
            self.tokens[index - 2].text == "bool" or
            re.match(r"(is|has|are|may|must|can)_", self.tokens[index - 1].text) is not None)

    def take_answer(self, first):
        """What is answered can be used either way, so that either is a limit."""
        last = self.end_of_statement(first)
        for condition in self.split(first, last, ("?", ":")):
            self.take_operands(*condition, True, True)

    def take_statement(self, index):
        end = self.end_of_statement(index)
        if self.tokens[end].text != ";" or end == index:
            return
        text = self.source(index, end)
        if any(self.skipped[index:end]):
            return
        called = re.match(r"(?:\(void\))?((?:\w+(?:\(\))?(?:\.|->|::))*)(\w+)\(", text)
        counted = re.match(r"(?:\+\+|--)([\w.>()\[\]-]+)$|([\w.>()\[\]-]+) [-+]= ", text)
        if called and called.group(2) not in ("if", "for", "while", "switch", "return"):
            is_limit = bool(REFUSING_CALL.match(called.group(2)))
        elif counted:
            is_limit = bool(COUNTED.search(counted.group(1) or counted.group(2))) and \
                not re.search(r"stats_", text)
        elif re.match(r"[\w.>()\[\]-]+ = ", text):
            is_limit = False
        else:
            return
        start = self.tokens[index].start
        self.sites.append(Site("call" if is_limit else "statement", start, start,
                               "if (::mutant::keep<{n}>()) ",
                               [(start, self.tokens[end].start, "", is_limit)], False))

    # Tokens

    def take_token(self, index, token):
        if token.kind == "num":
            self.take_number(index, token)
        elif self.is_relation(index):
            self.take_relation(index, token)
        elif token.text in ("min", "max", "clamp") and self.source(index - 2, index) == "std::":
            self.take_bound(index, token)

    def take_relation(self, index, token):
        name, more, less = RELATIONS[token.text]
        is_more, is_less = self.polarity.get(index, (False, False))
        if token.text == "==":
            is_less = is_more  # both let more pass
        elif token.text == "!=":
            is_more = is_less
        self.sites.append(Site(
            "relation", token.start, token.end,
            f"{token.text} ::mutant::Relation<{{n}}, ::mutant::{name}>{{{{}}}} {token.text}",
            [(token.start, token.end, more, is_more), (token.start, token.end, less, is_less)],
            False))

    def take_number(self, index, token):
        digits = re.fullmatch(r"(0[xX][\da-fA-F']+|0[bB][01']+|[\d']+)([uUlLzZ]*)", token.text)
        before = self.tokens[index - 1].text
        if digits is None or before in ("case", "[") or \
                (before == "{" and self.tokens[index - 2].text == "byte"):
            return
        value = int(digits.group(1).replace("'", ""), 0)
        variants = [(token.start, token.end, f"{value + step}{digits.group(2)}",
                     self.are_numbers_limits) for step in (1, -1)]
        self.sites.append(Site("number", token.start, token.end, "::mutant::number<{n}>(", variants))

    def take_bound(self, index, token):
        name = {"min": "least", "max": "greatest", "clamp": "clamped"}[token.text]
        start, end = self.tokens[index - 2].start, token.end
        call, given = index + 1, ""
        if self.tokens[call].text == "<":
            call = self.end_of_angles(call) + 1
            given = ", " + self.source(index + 2, call - 1)
            end = self.tokens[call].start
        if self.tokens[call].text != "(":
            return
        close = self.tokens[call].partner
        arguments = [self.source(*part) for part in self.split(call + 1, close, (",",))]
        is_clamp = token.text == "clamp"
        if len(arguments) != (3 if is_clamp else 2) or self.tokens[call + 1].text == "{":
            return
        whole = (start, self.tokens[close].end)
        is_limit = token.text != "max"
        if is_clamp:
            value, low, high = arguments
            read = [(f"std::min({value}, {high})", True), (f"std::max({value}, {low})", True)]
        else:
            other = {"min": "max", "max": "min"}[token.text]
            read = [(argument, is_limit) for argument in arguments]
            read.append((f"std::{other}({', '.join(arguments)})", False))
        self.sites.append(Site("bound", start, end, f"::mutant::{name}<{{n}}{given}>",
                               [(*whole, *one) for one in read], False))


class MutatedFile:
    """The mutants of one file, and the text that has them all."""

    def __init__(self, file, text, are_numbers_limits=False):
        self.file, self.text = file, text
        self.lines = [0] + [match.end() for match in re.finditer("\n", text)]
        self.sites = Finder(file, text, are_numbers_limits).find()
        seen = {}
        for site in self.sites:
            for variant in site.variants:
                mutant = self.describe(site, *variant)
                words = (mutant.before, mutant.after)
                mutant.nth = seen[words] = seen.get(words, -1) + 1
                site.mutants.append(mutant)

    @property
    def mutants(self):
        return [mutant for site in self.sites if not site.is_off for mutant in site.mutants]

    def line_of(self, position):
        return bisect.bisect_right(self.lines, position)

    def describe(self, site, start, end, replacement, is_limit):
        first, last = self.line_of(start), self.line_of(max(start, end - 1))
        begin = self.lines[first - 1]
        stop = self.lines[last] if last < len(self.lines) else len(self.text)
        before = self.text[begin:stop]
        after = self.text[begin:start] + replacement + self.text[end:stop]
        return Mutant(self.file, first, site.kind, is_limit, " ".join(before.split()),
                      " ".join(after.split()), (start, end, replacement))

    def alone(self, mutant):
        """The text with nothing but this mutant."""
        start, end, replacement = mutant.edit
        return self.text[:start] + replacement + self.text[end:]

    def number(self, first):
        """Numbers them from `first` on; returns the next number."""
        for site in self.sites:
            for mutant in site.mutants:
                mutant.number, first = first, first + 1
        return first

    def turn_off(self, line):
        """What stands in this line does not compile. Whether that was anything."""
        found = [site for site in self.sites if not site.is_off and
                 self.line_of(site.start) <= line <= self.line_of(max(site.start, site.end - 1))]
        for site in found:
            site.is_off = True
        return bool(found)

    def mutated(self, include):
        """The text with all mutants in it; the first line makes place for the include."""
        edits = []  # (position, is it an opening, order, text, end)
        for site in self.sites:
            if site.is_off:
                continue
            code = site.code.format(n=site.mutants[0].number)
            length = site.end - site.start
            if site.is_wrapped:
                edits.append((site.start, 1, -length, code, site.start))
                edits.append((site.end, 0, length, site.end_code, site.end))
            else:
                edits.append((site.start, 1, -length, code, site.end))
        text, position = [], 0
        for start, _, _, code, end in sorted(edits, key=lambda edit: edit[:3]):
            text += [self.text[position:start], code]
            position = end
        text = "".join(text) + self.text[position:]
        head, _, rest = text.partition("\n")
        if not head.startswith("//"):
            raise ValueError(f"{self.file}: its first line is no comment")
        return f'#include "{include}"\n{rest}'
