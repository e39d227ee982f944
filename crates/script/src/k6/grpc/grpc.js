// Clients, and the constants of k6/net/grpc.
(natives) => {
  "use strict";
  class Client {
    #state = natives.client();
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
    healthCheck(service) {
      return natives.healthCheck(this.#state, service);
    }
    close() {
      natives.close(this.#state);
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
  const module = { Client };
  statuses.forEach((name, code) => {
    module[`Status${name}`] = code;
  });
  module.HealthCheckUnknown = "UNKNOWN";
  module.HealthCheckServing = "SERVING";
  module.HealthCheckNotServing = "NOT_SERVING";
  return module;
};
