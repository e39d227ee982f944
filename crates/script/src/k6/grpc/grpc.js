// Clients, and the constants of k6/net/grpc.
(natives) => {
  "use strict";
  let stateOf;
  class Client {
    #state = natives.client();
    static {
      stateOf = (client) => (typeof client === "object" && client && #state in client ? client.#state : undefined);
    }
    load(paths, ...files) {
      return natives.load(this.#state, paths, ...files);
    }
    loadProtoset(file) {
      return natives.loadProtoset(this.#state, file);
    }
    connect(address, params) {
      return natives.connect(this.#state, address, params);
    }
    invoke(method, message, params) {
      return natives.invoke(this.#state, method, message, params);
    }
    asyncInvoke(method, message, params) {
      return natives.asyncInvoke(this.#state, method, message, params);
    }
    healthCheck(service) {
      return natives.healthCheck(this.#state, service);
    }
    close() {
      natives.close(this.#state);
    }
  }
  class Stream {
    #handlers = { data: [], error: [], end: [] };
    #handle;
    constructor(client, method, params) {
      const state = stateOf(client);
      if (!state) throw new Error("invalid GRPC Stream's client: empty gRPC client");
      this.#handle = natives.stream(state, method, params, (kind, value) => this.#emit(kind, value));
    }
    #emit(kind, value) {
      this.#handlers[kind].slice().forEach((handler) => handler(value));
    }
    on(kind, handler) {
      if (!Object.hasOwn(this.#handlers, kind)) {
        throw new TypeError(`a gRPC stream has no event '${kind}': there are data, error and end`);
      }
      if (typeof handler !== "function") throw new TypeError(`the handler of '${kind}' must be a function`);
      this.#handlers[kind].push(handler);
    }
    write(message) {
      const wrong = natives.write(this.#handle, message);
      if (wrong === undefined) return;
      natives.cancel(this.#handle);
      queueMicrotask(() => {
        this.#emit("error", { code: 2, message: wrong, details: [] });
        this.#emit("end");
      });
    }
    end() {
      natives.finish(this.#handle);
    }
  }
  const statuses = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
  ];
  const module = { Client, Stream };
  statuses.forEach((name, code) => {
    module[`Status${name}`] = code;
  });
  module.HealthCheckUnknown = "UNKNOWN";
  module.HealthCheckServing = "SERVING";
  module.HealthCheckNotServing = "NOT_SERVING";
  return module;
};
