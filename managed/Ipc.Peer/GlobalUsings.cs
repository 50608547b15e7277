// The domain objects as programs use them.
global using Reply = Ipc.Codecs.Reply<string[]>;
global using Request = Ipc.Codecs.Request<string[]>;
