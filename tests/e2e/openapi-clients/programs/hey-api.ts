// What a partner writes with @hey-api/openapi-ts. It is compiled only.
import { createUser, getUser } from "../generated/hey-api"

export async function create(): Promise<string> {
  const { data, error } = await createUser({
    auth: "org_…",
    body: { email: "ada@example.org", attributes: { shirt_size: "M" } },
  })
  if (!data) return error?.error.details?.reason ?? ""
  const found = await getUser({ path: { userId: data.id } })
  return `${data.outcome} ${found.data?.email}`
}
