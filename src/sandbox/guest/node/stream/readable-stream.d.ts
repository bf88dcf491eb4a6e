/** The package is Node's own source for users. It has no types of its own; Node's fit. */
declare module "readable-stream/lib/stream.js" {
  import stream from "node:stream";
  export default stream;
}
