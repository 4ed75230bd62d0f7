#!/usr/bin/env python3
"""Identifies the deliveries in identities.json by the descriptions in schemes.json, with nothing but Python's standard library.

Prints what was compared and what differs. Exits with 1 if anything does.
"""
import hashlib, json, pathlib, re, sys

class Number(float):
    """A number with its text, from which it may have been rounded."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


here = pathlib.Path(__file__).parent
# Every number is a double, as in JavaScript: 1 is 1.0, and 2**53 + 1 is rounded.
load = lambda text: json.loads(text, parse_int=Number, parse_float=Number)
read = lambda name: load((here / name).read_text("utf-8"))
lower = lambda headers: {name.lower(): value for name, value in headers.items()}
sha256 = lambda data: hashlib.sha256(data).hexdigest()
is_number = lambda value: isinstance(value, float)
schemes = read("schemes.json")["schemes"]


def identify(webhook, delivery):
    headers, body = lower(delivery.get("headers", {})), delivery["body"].encode()
    scheme = schemes.get(webhook.get("signatureScheme"), {})
    of_body = scheme.get("bodyIdentity", {})
    header = lambda name: name and header_identity(headers.get(name.lower(), "").strip(" \t"))
    steps = [
        ("deliveryIdHeader", lambda: header(webhook.get("deliveryIdHeader"))),
        ("deliveryIdField", lambda: field_identity(webhook.get("deliveryIdField"), body)),
        ("scheme", lambda: header(scheme.get("idHeader") or scheme.get("deliveryIdHeader"))),
        ("schemeField", lambda: field_identity(of_body.get("field"), body)),
        ("X-Service-Delivery-Id", lambda: header("X-Service-Delivery-Id")),
    ]
    for source, read in steps:
        if found := read():
            return found, source
    if key := of_body.get("hashWithout"):
        kept = re.sub(rb'("%s"\s*:)\s*(?:-?\d+|true|false)' % key.encode(), rb"\1", body)
        return f"body-without-{key}-sha256:{sha256(kept)}", "body"
    return "body-sha256:" + sha256(body), "body"


def keep(text, data):
    fits = text is not None and len(text.encode()) <= 256 and not text.startswith("sha256:") and "\0" not in text
    return text if fits else "sha256:" + sha256(data)


def header_identity(value):
    data = value.encode("latin-1")
    try:
        return data and keep(data.decode(), data)
    except UnicodeDecodeError:
        return keep(None, data)


def field_identity(field, body):
    if not field:
        return None
    ids = [read_id(load(body), path) for path in ([field] if isinstance(field, str) else field)]
    if not all(ids):
        return None
    units = lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2
    text = ids[0] if len(ids) == 1 else "".join(f"{units(each)}:{each}" for each in ids)
    has_pairs = not any("\ud800" <= char <= "\udfff" for char in text)
    return keep(text if has_pairs else None, text.encode("utf-16-le", "surrogatepass"))


def read_id(value, path):
    for name, quoted, index in re.findall(r'\.([A-Za-z_]\w*)|\[(?:("(?:[^"\\]|\\.)*")|(\d+))\]', path):
        step = int(index) if index else json.loads(quoted) if quoted else name
        is_there = isinstance(value, list) and step < len(value) if index else isinstance(value, dict) and step in value
        if not is_there:
            return None
        value = value[step]
    if isinstance(value, str):
        return value if value.strip() else None
    if not is_number(value) or not value.is_integer() or abs(value) >= 2**53:
        return None
    is_rounded = abs(value) >= 2**39 and re.sub(r"\.0+$", "", value.text) != str(int(value))
    return None if is_rounded else str(int(value))


compared, differences = 0, []
for case in read("identities.json")["cases"]:
    seen = []
    for delivery in case["deliveries"]:
        found = identify(case["webhook"], delivery)
        first = seen.index(found) if found in seen else None
        expected = delivery["identity"], delivery["source"], delivery.get("duplicateOf")
        seen.append(found)
        compared += 1
        if (*found, first) != expected:
            differences.append(f"{case['name']}: {(*found, first)} instead of {expected}")
print(json.dumps({"compared": compared, "differences": differences}, indent=1, ensure_ascii=False))
sys.exit(1 if differences else 0)
