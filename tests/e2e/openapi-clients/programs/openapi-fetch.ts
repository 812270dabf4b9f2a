// What a partner writes with openapi-typescript and openapi-fetch. It is compiled only.
import createClient from "openapi-fetch"
import type { components, paths } from "../generated/openapi-typescript"

const client = createClient<paths>({ baseUrl: "https://members.example.org" })

export async function create(): Promise<string> {
  const { data, error, response } = await client.POST("/v1/users", {
    body: { email: "ada@example.org", attributes: { shirt_size: "M", points: 5, interests: ["news"] } },
  })
  if (error) {
    const faults = error.error.details?.fields ?? []
    return faults.map(fault => `${fault.path}: ${fault.message} ${fault.allowed?.join() ?? fault.max_length ?? ""}`).join()
  }
  const size: string | number | boolean | (string | number | boolean)[] | undefined = data.attributes.shirt_size
  return `${data.outcome} ${data.status} ${size} ${response.headers.get("ETag")}`
}

export async function everyone(): Promise<components["schemas"]["User"][]> {
  const all: components["schemas"]["User"][] = []
  let cursor: string | undefined
  do {
    const { data } = await client.GET("/v1/users", { params: { query: { limit: 100, cursor, status: "active" } } })
    all.push(...(data?.users ?? []))
    cursor = data?.next_cursor ?? undefined
  } while (cursor)
  return all
}

export async function stage(id: string): Promise<number> {
  const { data } = await client.POST("/v1/imports/{id}/rows", {
    params: { path: { id } },
    body: { rows: [{ rowNumber: 1, payload: { email: "ada@example.org", country: "GB" } }] },
  })
  return data?.staged ?? 0
}
