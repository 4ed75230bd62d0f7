#!/usr/bin/env python3
"""Evaluates the filters in filters.json, with nothing but Python's standard library.

Prints what was compared and what differs. Exits with 1 if anything does.
"""
import json, pathlib, re, sys

here = pathlib.Path(__file__).parent
# Every number is a double, as in JavaScript: 1 is 1.0, and 2**53 + 1 is rounded.
load = lambda text: json.loads(text, parse_int=float)
lower = lambda headers: {name.lower(): value for name, value in headers.items()}


def clause_of(value):
    if isinstance(value, list):
        return "in", value
    (key, operand), *others = value.items() if value else [(None, None)]
    plain = isinstance(operand, dict) and clause_of(operand)[0] != "exists" and not any(isinstance(each, (dict, list)) for each in operand.values())
    is_operator = {"exists": isinstance(operand, bool), "compare": plain}.get(key, key in ("in", "not_in", "like", "not_like") and isinstance(operand, list))
    return (key, operand) if is_operator and not others else ("nested", value)


missing = object()
same = lambda a, b: type(a) is type(b) and a == b
is_number = lambda value: isinstance(value, float)
bounds = {"at_least": lambda n, b: n >= b, "above": lambda n, b: n > b, "at_most": lambda n, b: n <= b, "below": lambda n, b: n < b}


def like(pattern, text):
    parts = re.findall(r"\\[*\\]|\*|[^*\\]+", pattern)
    return isinstance(text, str) and re.fullmatch("".join(".*" if part == "*" else re.escape(re.sub(r"\\(.)", r"\1", part)) for part in parts), text, re.S)


def holds(operator, operand, value):
    if operator.startswith("not_"):
        return not holds(operator[4:], operand, value)
    if operator == "exists":
        return (value is not missing) == operand
    test = {
        "in": lambda each: any(same(each, one) for one in operand),
        "like": lambda each: any(like(pattern, each) for pattern in operand),
        "compare": lambda each: is_number(each) and all(bounds[name](each, bound) for name, bound in operand.items()),
    }[operator]
    return any(test(each) for each in (value if isinstance(value, list) else [value]))


def examine(filter, value, path="$"):
    """The clauses of a filter; of a list, those for the first element that satisfies the most, after one for the list."""
    get = lambda one, field: one[field] if isinstance(one, dict) and field in one else missing
    satisfied = lambda one: [all(each[2] for each in examine_field(*item, get(one, item[0]), "")) for item in filter.items()]
    first = []
    if isinstance(value, list) and value:
        at = max(range(len(value)), key=lambda at: (sum(satisfied(value[at])), -at))
        first = [(path, "any_element", all(satisfied(value[at])))]
        path, value = f"{path}[{at}]", value[at]
    return first + [each for field, asked in filter.items() for each in examine_field(field, asked, get(value, field), path)]


def examine_field(field, asked, value, path):
    operator, operand = clause_of(asked)
    path += "." + field if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", field) else f"[{json.dumps(field, ensure_ascii=False)}]"
    return examine(operand, value, path) if operator == "nested" else [(path, operator, bool(holds(operator, operand, value)))]


def examine_headers(filter, headers):
    json_number = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
    for name, asked in filter.items():
        (operator, operand), value = clause_of(asked), lower(headers).get(name.lower(), missing)
        if operator == "compare" and value is not missing and re.fullmatch(json_number, value):
            value = float(value)
        yield name, operator, bool(holds(operator, operand, value))


compared, differences = 0, []
for number, case in enumerate(load((here / "filters.json").read_text("utf-8"))["cases"]):
    if "headers" in case:
        found = list(examine_headers(case["headerFilter"], case["headers"]))
    else:
        found = examine(case["filter"], load(case["payload"]))
    verdict = all(holds for _, _, holds in found), found
    expected = case["matches"], [(each["path"], each["operator"], each["holds"]) for each in case["clauses"]]
    compared += 1
    if verdict != expected:
        differences.append(f"{number}: {verdict} instead of {expected}")
print(json.dumps({"compared": compared, "differences": differences}, indent=1, ensure_ascii=False))
sys.exit(1 if differences else 0)
