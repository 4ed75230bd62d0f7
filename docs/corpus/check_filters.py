#!/usr/bin/env python3
"""Evaluates the filters in filters.json, with nothing but Python's standard library.

Prints what was compared and what differs. Exits with 1 if anything does.
"""
import json, pathlib, re, sys

here = pathlib.Path(__file__).parent
# Every number is a double, as in JavaScript: 1 is 1.0, and 2**53 + 1 is rounded.
load = lambda text: json.loads(text, parse_int=float)
lower = lambda headers: {name.lower(): value for name, value in headers.items()}


def clauses_of(value):
    """The operators of a condition with their operands; `object` is ours for nested fields."""
    if isinstance(value, list):
        return [("in", value)]
    marked, plain = ("$like", "$not_like", "$compare", "$none"), {"in": list, "not_in": list, "exists": bool}
    is_operator = all(key in marked or isinstance(operand, plain.get(key, ())) for key, operand in value.items())
    return list(value.items()) if value and is_operator else [("object", value)]


missing = object()
same = lambda a, b: type(a) is type(b) and a == b
is_number = lambda value: isinstance(value, float)
bounds = {"at_least": lambda n, b: n >= b, "above": lambda n, b: n > b, "at_most": lambda n, b: n <= b, "below": lambda n, b: n < b}


def like(pattern, text):
    parts = re.findall(r"\\[*\\]|\*|[^*\\]+", pattern)
    return isinstance(text, str) and re.fullmatch("".join(".*" if part == "*" else re.escape(re.sub(r"\\(.)", r"\1", part)) for part in parts), text, re.S)


def holds(operator, operand, value):
    if operator in ("not_in", "$not_like", "$none"):
        return not holds({"not_in": "in", "$not_like": "$like", "$none": "object"}[operator], operand, value)
    if operator == "exists":
        return (value is not missing) == operand
    test = {
        "in": lambda each: any(same(each, one) for one in operand),
        "$like": lambda each: any(like(pattern, each) for pattern in operand),
        "$compare": lambda each: is_number(each) and all(bounds[name](each, bound) for name, bound in operand.items()),
        "object": lambda each: isinstance(each, dict) and all(satisfied(operand, each)),
    }[operator]
    return any(test(each) for each in (value if isinstance(value, list) else [value]))


def get(value, field):
    return value[field] if isinstance(value, dict) and field in value else missing


def satisfied(filter, value):
    return [holds(*clause, get(value, field)) for field, asked in filter.items() for clause in clauses_of(asked)]


def examine(filter, value, path="$", is_root=True):
    """The clauses of a filter; of a list, those for the first element that satisfies the most, after one for the list."""
    elements = value if isinstance(value, list) else []
    candidates = [at for at, one in enumerate(elements) if is_root or isinstance(one, dict)]
    if not is_root and not (candidates or isinstance(value, dict)):
        return [(path, "object", False)]
    if not is_root and not filter:
        return [(path, "object", True)]
    first = []
    if candidates:
        at = max(candidates, key=lambda at: (sum(satisfied(filter, value[at])), -at))
        first = [(path, "any_element", all(satisfied(filter, value[at])))]
        path, value = f"{path}[{at}]", value[at]
    return first + [each for field, asked in filter.items() for each in examine_field(field, asked, get(value, field), path)]


def examine_field(field, asked, value, path):
    path += "." + field if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", field) else f"[{json.dumps(field, ensure_ascii=False)}]"
    for operator, operand in clauses_of(asked):
        yield from examine(operand, value, path, False) if operator == "object" else [(path, operator, bool(holds(operator, operand, value)))]


def examine_headers(filter, headers):
    json_number = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
    for name, asked in filter.items():
        for operator, operand in clauses_of(asked):
            value = lower(headers).get(name.lower(), missing)
            if operator == "$compare" and value is not missing and re.fullmatch(json_number, value):
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
