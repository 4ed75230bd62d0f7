#!/usr/bin/env python3
"""Verifies the requests in signatures.json by the descriptions in schemes.json, with nothing but Python's standard library.

Prints what was compared and what differs. Exits with 1 if anything does.
"""
import base64, collections, datetime, hashlib, hmac, json, pathlib, re, sys, unicodedata, urllib.parse

here = pathlib.Path(__file__).parent
read = lambda name: json.loads((here / name).read_text("utf-8"))
lower = lambda headers: {name.lower(): value for name, value in headers.items()}
sha256 = lambda data: hashlib.sha256(data).hexdigest()
schemes = read("schemes.json")["schemes"]


def verifies(vector):
    scheme, secret, headers = schemes[vector["scheme"]], vector["secret"], lower(vector["headers"])
    if scheme["primitive"] == "shared-secret":
        data = secret.encode()
        text = base64.b64encode(data).decode() if scheme["encoding"] == "base64" else data.decode("latin-1")
        return headers.get(scheme["header"].lower()) == scheme.get("prefix", "") + text
    own = {"header": scheme["header"], "timestampHeader": scheme.get("timestamp", {}).get("header"), "idHeader": scheme.get("idHeader")}
    return any(verifies_with(names, scheme, vector, headers) for names in [own, *scheme.get("alternatives", [])])


def verifies_with(names, scheme, vector, headers):
    find = lambda key: headers.get((names.get(key) or "").lower())
    text, stamp, of_time, listed = find("header"), find("timestampHeader"), scheme.get("timestamp", {}), scheme.get("list")
    if text is None:
        return False
    if not listed:
        signatures = [text[len(scheme.get("prefix", "")):]] if text.startswith(scheme.get("prefix", "")) else []
    elif "key" in listed:
        items = [[part.strip() for part in item.split(listed["keyValueSeparator"], 1)] for item in text.split(listed["separator"])]
        signatures = [item[1] for item in items if len(item) == 2 and item[0] == listed["key"]]
        stamp = next((item[1] for item in items if "field" in of_time and item[0] == of_time["field"]), stamp)
    else:
        signatures = [item.strip() for item in text.split(listed["separator"])]
        stamp = signatures.pop(0) if "item" in of_time else stamp
    body, now = vector["body"].encode(), vector["nowMs"]
    if "body" in of_time:
        stamp = json.loads(body).get(of_time["body"])
    if of_time:
        at = read_time(stamp, of_time["unit"])
        now = now // 1000 * 1000 if of_time["unit"] == "s" else now
        if at is None or abs(now - at) > of_time.get("toleranceSeconds", float("inf")) * 1000:
            return False
    parts = {"timestamp": stamp, "id": find("idHeader"), "url": vector["url"], "method": vector["method"]}
    if "{id}" in scheme["content"] and parts["id"] is None:
        return False
    expected = [
        encode(hmac.new(key, content, scheme["hash"]).digest(), scheme["encoding"])
        for key in (derive(vector["secret"], how) for how in [scheme.get("key", {}), *scheme.get("otherKeys", [])]) if key
        for content in contents(scheme["content"], body, headers, parts)
    ]
    signatures = [each.lower() if scheme["encoding"] == "hex" else each for each in signatures]
    return any(each in expected for each in signatures)


def read_time(text, unit):
    if text is None:
        return None
    if unit in ("s", "ms"):
        return float(text) * (1000 if unit == "s" else 1)
    zoned = text if re.search(r"(Z|[+-]\d\d:\d\d)$", text) else text + "Z"
    precise = re.sub(r"\.(\d+)", lambda part: "." + part[1][:6].ljust(6, "0"), zoned)
    return datetime.datetime.fromisoformat(precise.replace("Z", "+00:00")).timestamp() * 1000


def derive(secret, how):
    text = secret.removeprefix(how.get("stripPrefix", ""))
    text = unicodedata.normalize(how["unicodeForm"], text) if "unicodeForm" in how else text
    try:
        return {"base64": lambda: base64.b64decode(text, validate=True), "hex": lambda: bytes.fromhex(text)}.get(how.get("encoding"), text.encode)()
    except ValueError:
        return None


def encode(mac, encoding):
    text = {"hex": bytes.hex, "base64": lambda m: base64.b64encode(m).decode(), "base64url": lambda m: base64.urlsafe_b64encode(m).decode().rstrip("=")}
    return text[encoding](mac)


def contents(content, body, headers, parts):
    """What the signature may cover: a template with its placeholders filled in, or what no template describes."""
    if isinstance(content, str):
        pieces = re.split(r"\{(\w+)\}", content)
        return [b"".join(body if at % 2 and piece == "body" else (str(parts[piece]) if at % 2 else piece).encode("latin-1") for at, piece in enumerate(pieces))]
    url = urllib.parse.urlsplit(parts["url"])
    if content["canonical"] == "url-and-form":
        digest = urllib.parse.parse_qs(url.query).get("bodySHA256")
        fields = {} if digest else urllib.parse.parse_qs(body.decode(), keep_blank_values=True)
        if digest and digest[0] != sha256(body):
            return []
        signed = "".join(name + value for name in sorted(fields) for value in sorted(set(fields[name])))
        port = {"https": 443, "http": 80}[url.scheme]
        other = url._replace(netloc=url.hostname if url.port else f"{url.hostname}:{port}").geturl()
        return [(address + signed).encode() for address in (parts["url"], other)]
    listed = sorted(name.strip().lower() for name in headers["x-contentful-signed-headers"].split(","))
    quoted = urllib.parse.quote(urllib.parse.quote(url.query, safe="!'()*~"), safe="!#$&'()*+,/:;=?@~")
    path = url.path + ("?" + quoted if url.query else "")
    return ["\n".join([parts["method"], path, ";".join(f"{name}:{headers[name].strip()}" for name in listed), ""]).encode() + body]


def primitive_of(vector):
    scheme = schemes[vector["scheme"]]
    other = scheme.get("asymmetric")
    return other["primitive"] if other and vector["secret"].startswith(other["key"]["publicPrefix"]) else scheme["primitive"]


compared, left_out, differences = 0, collections.Counter(), []
file = read("signatures.json")
for number, vector in enumerate(file["vectors"]):
    if primitive_of(vector) in ("ed25519", "ecdsa-p256"):  # not in the standard library
        left_out[primitive_of(vector)] += 1
        continue
    compared += 1
    if verifies({**file["defaults"], **vector}) != vector["valid"]:
        differences.append(f"{number}: {vector['scheme']} must {'' if vector['valid'] else 'not '}verify")
print(json.dumps({"compared": compared, "left out": left_out, "differences": differences}, indent=1, ensure_ascii=False))
sys.exit(1 if differences else 0)
