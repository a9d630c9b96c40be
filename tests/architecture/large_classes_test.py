#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each class of the library above 30 public functions or 20 data members stands in docs/architecture.md, "Large
classes", with the reason; and no other class does. Settings, results and value types are exempt by name, here."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FUNCTIONS_MAX = 30
MEMBERS_MAX = 20

# What a game sets, what it reads, and values that have one function for each type of a vocabulary.
EXEMPT = {"NetConfig", "NetStats", "ReplicationCounters", "NetworkReader", "NetworkWriter"}

HEAD = re.compile(r"\b(class|struct)\s+(?:alignas\(\w+\)\s+)?(?:\[\[\w+\]\]\s+)?([\w:]+)(?:\s+final)?\s*(?::[^{;()]*)?\{")
NESTED = re.compile(r"(template[^{]*>\s*)?(class|struct|enum|union)\b")
NO_MEMBER = re.compile(r"(friend|using|typedef|static_assert|template\s*<[^>]*>\s*friend|enum|class \w+$|struct \w+$|"
                       r"static (inline )?constexpr)")
ACCESS = re.compile(r"\b(public|private|protected)\s*$")


def without_comments_and_texts(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"'(?:\\.|[^'\\\n])'", "' '", text)
    return re.sub(r"^\s*#[^\n]*", "", text, flags=re.MULTILINE)


def end_of_block(text, begin):
    depth = 1
    while depth and begin < len(text):
        depth += {"{": 1, "}": -1}.get(text[begin], 0)
        begin += 1
    return begin


def is_function(statement):
    head = re.split(r"[={]", statement)[0]
    return "(" in head and not re.search(r"std::function<|Callback<", head)


def is_whole_function(statement):
    """What ends in a block is one; an initialiser, or a default argument, is none."""
    return (is_function(statement) and not NESTED.match(statement) and not statement.endswith("_{}") and
            statement.count("(") == statement.count(")"))


class Counts:
    def __init__(self):
        self.functions = 0
        self.members = 0

    def add(self, statement, access):
        if not statement or NESTED.match(statement) and "{}" in statement or NO_MEMBER.match(statement):
            return
        if re.search(r"=\s*(delete|default)$", statement):
            return
        if not is_function(statement):
            self.members += 1
        elif access == "public":
            self.functions += 1


def count_class(text, begin, access):
    """The public functions and the data members of the class whose body begins there."""
    counts = Counts()
    statement = ""
    while begin < len(text) and text[begin] != "}":
        letter = text[begin]
        begin += 1
        if letter == "{":
            begin = end_of_block(text, begin)
            statement = statement.strip() + "{}"
            if is_whole_function(statement):
                counts.add(statement, access)
                statement = ""
        elif letter == ";":
            counts.add(statement.strip(), access)
            statement = ""
        elif letter == ":" and ACCESS.search(statement):
            access = ACCESS.search(statement).group(1)
            statement = ""
        else:
            statement += letter
    return counts


def classes_of(text):
    text = without_comments_and_texts(text)
    for head in HEAD.finditer(text):
        if not re.search(r"\benum\s*$", text[:head.start()]):
            yield head.group(2), count_class(text, head.end(), "private" if head.group(1) == "class" else "public")


def large_classes():
    found = {}
    for floor in ("reflection", "replayout", "netdriver"):
        for folder, _, names in os.walk(os.path.join(ROOT, floor)):
            for name in sorted(names):
                if not name.endswith((".h", ".cpp")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    for title, counts in classes_of(file.read()):
                        if counts.functions > FUNCTIONS_MAX or counts.members > MEMBERS_MAX:
                            found[title] = (counts.functions, counts.members)
    return found


def listed_classes():
    with open(os.path.join(ROOT, "docs", "architecture.md"), encoding="utf-8") as file:
        section = re.search(r"^## Large classes\n(.*?)(?=^## |\Z)", file.read(), re.MULTILINE | re.DOTALL)
    return {row[0]: (int(row[1]), int(row[2])) for row in
            re.findall(r"^\| `([\w:]+)` \| (\d+) \| (\d+) \| \S", section.group(1), re.MULTILINE)} if section else {}


class LargeClassesTest(unittest.TestCase):
    maxDiff = None

    def test_each_large_class_has_its_reason_and_its_counts_in_the_docs(self):
        found = {name: counts for name, counts in large_classes().items() if name not in EXEMPT}
        self.assertEqual(listed_classes(), found)

    def test_functions_and_members_are_told_apart(self):
        found = {name: (counts.functions, counts.members) for name, counts in classes_of("""
            class A final : public B {
              public:
                explicit A(int a) noexcept : a_(a) { use(a); }
                A(const A&) = delete;
                int a() const { return a_; }   // a comment; with a semicolon
                template <class T>
                void set(T value = {}, bool is_sure = false);
                struct Nested { int inner; int more() { return 1; } };
                static constexpr int max = 3;
              private:
                void hidden();
                friend class C;
                int a_ = 0;
                std::function<void(int)> call_;
                std::vector<int> list_{1, 2};
            };""")}
        self.assertEqual(found, {"A": (3, 3), "Nested": (1, 1)})


if __name__ == "__main__":
    unittest.main()
