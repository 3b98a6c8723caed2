// The certified provider, for test_oidc_provider.py: node oidc_provider.mjs PORT CALLBACK.
// Anybody signs in with the name that they type, and is in the groups that the file groups.json has.
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const [port, callback] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "labelhub",
      client_secret: "of-the-test-client",
      redirect_uris: [callback],
      token_endpoint_auth_method: "client_secret_post",
    },
  ],
  claims: {
    openid: ["sub"],
    email: ["email", "email_verified"],
    profile: ["name", "preferred_username", "groups"],
  },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.org`,
      email_verified: true,
      preferred_username: id,
      name: id,
      groups: JSON.parse(readFileSync("groups.json")),
    }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
