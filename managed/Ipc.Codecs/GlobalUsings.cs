// The domain objects as programs use them; the containers of Request<T> vary only in scenario `serialize`.
global using Reply = Ipc.Codecs.Reply<string[]>;
global using Request = Ipc.Codecs.Request<string[]>;
