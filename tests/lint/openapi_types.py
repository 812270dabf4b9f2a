"""TypeScript declarations for the console from the OpenAPI description: a type for each schema, and the table of all calls."""

import json
import re

PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
IS_NAME = re.compile(r"[A-Za-z_]\w*")


def name_of(reference):
    return reference.rsplit("/", 1)[1]


def union(types):
    return " | ".join(dict.fromkeys(types)) or "any"


def key(name):
    return name if IS_NAME.fullmatch(name) else json.dumps(name)


def object_type(schema):
    required = schema.get("required", [])
    fields = [f"{key(name)}{'' if name in required else '?'}: {type_of(field)}" for name, field in schema.get("properties", {}).items()]
    if fields:
        return "{ " + "; ".join(fields) + " }"
    others = schema.get("additionalProperties", True)
    return f"Record<string, {type_of(others) if isinstance(others, dict) else 'any'}>"


def type_of(schema):
    if "$ref" in schema:
        return name_of(schema["$ref"])
    if "enum" in schema:
        return union(map(json.dumps, schema["enum"]))
    if "anyOf" in schema:
        return union(map(type_of, schema["anyOf"]))
    kinds = schema.get("type", [])
    return union(kind_type(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def kind_type(kind, schema):
    if kind == "array":
        return f"Array<{type_of(schema.get('items', {}))}>"
    return object_type(schema) if kind == "object" else PRIMITIVES[kind]


def content_type(content):
    """The type of a body: text if it is not JSON, null if there is none."""
    if not content:
        return "null"
    return type_of(content["application/json"]["schema"]) if "application/json" in content else "string"


def operation_type(operation, components):
    def resolved(part, kind):
        return components[kind][name_of(part["$ref"])] if "$ref" in part else part

    replies = [resolved(reply, "responses").get("content") for status, reply in operation["responses"].items() if status[0] == "2"]
    parameters = [resolved(one, "parameters") for one in operation.get("parameters", [])]
    names = union(json.dumps(one["name"]) for one in parameters if one["in"] == "query") if any(
        one["in"] == "query" for one in parameters) else "never"
    body = content_type(operation.get("requestBody", {}).get("content"))
    return f"{{ query: {names}; body: {'undefined' if body == 'null' else body}; reply: {union(map(content_type, replies))} }}"


def declaration(name, schema):
    """An object is an interface, so that the compiler's messages have its name."""
    is_object = schema.get("type") == "object" and "properties" in schema
    return f"  interface {name} {type_of(schema)}" if is_object else f"  type {name} = {type_of(schema)}"


def declarations(document):
    components = document["components"]
    lines = ["declare namespace Api {"]
    lines += [declaration(name, schema) for name, schema in components["schemas"].items()]
    lines.append("  interface Calls {")
    for path, operations in document["paths"].items():
        pattern = re.sub(r"\{\w+\}", "{}", path)
        lines += [f"    {json.dumps(f'{method.upper()} {pattern}')}: {operation_type(operation, components)}"
                  for method, operation in operations.items()]
    return "\n".join([*lines, "  }", "}", ""])
