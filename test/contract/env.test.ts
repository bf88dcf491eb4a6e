/** A plugin sees the variables that the operator granted by name or set for it, and no others of the gateway's. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { contract, open } from "../support/host.ts";

const source = `export default (api) => api.on("message_sending", () => {
  process.env.MADE = "here";
  return { content: JSON.stringify([Object.keys(process.env).sort(), process.env]) };
});`;

/** The same in every cell. */
const ALWAYS = { HOME: "/home/plugin", LOGNAME: "plugin", TMPDIR: "/tmp", USER: "plugin" };

contract("process.env", (isolation) => {
  beforeAll(() => {
    process.env.CREEL_TEST_GRANTED = "granted";
    process.env.CREEL_TEST_SECRET = "secret";
  });
  afterAll(() => {
    delete process.env.CREEL_TEST_GRANTED;
    delete process.env.CREEL_TEST_SECRET;
  });

  it("has what was granted by its exact name, what was set for the plugin, and what the plugin itself put there", async () => {
    const config = {
      plugins: { entries: { all: { env: { SET: "by the operator" }, grants: { env: ["CREEL_TEST_GRANTED", "CREEL_TEST_ABSENT"] } } } },
    };
    await using host = await open(isolation, {
      config,
      plugins: [
        { id: "all", source },
        { id: "none", source },
      ],
    });
    const seen = async (id: string): Promise<unknown> => {
      for (const { id: other } of host.plugins()) if (other !== id) host.disable(other);
      const { result } = await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
      return JSON.parse(result!.content!);
    };
    expect(await seen("all")).toEqual([
      ["CREEL_TEST_GRANTED", ...Object.keys(ALWAYS), "MADE", "SET"].toSorted(),
      { ...ALWAYS, CREEL_TEST_GRANTED: "granted", MADE: "here", SET: "by the operator" },
    ]);
    await host.reload("none");
    expect(await seen("none")).toEqual([[...Object.keys(ALWAYS), "MADE"].toSorted(), { ...ALWAYS, MADE: "here" }]);
  });

  it("a name is a name: no pattern, and nothing that is none", async () => {
    for (const name of ["*", "CREEL_*", "A=B", ""])
      await expect(open(isolation, { plugins: [{ id: "p", source, grants: { env: [name] } }] })).rejects.toMatchObject({
        code: expect.stringMatching(/^ERR_/) as string,
      });
  });
});
