"""The requests that a name server serves (protocol/README.md#name-servers)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Final

from broker_core.namesrv.limits import LimitReached
from broker_core.namesrv.names import check_names
from broker_core.namesrv.options import OptionFixed, OptionRefused, Options
from broker_core.namesrv.registrations import RegistrationReader
from broker_core.namesrv.routes import Registration, RouteTable
from broker_core.namesrv.settings import ORDER_TOPIC_CONFIG, Settings
from broker_core.protocol import Command, RequestCode, ResponseCode, bodies, java_properties
from broker_core.protocol.bodies import RegisterBrokerBody
from broker_core.protocol.bodies.registration import checksum
from broker_core.protocol.codes import STRICT_JSON_VERSION, TOPIC_UNIT, TOPIC_UNIT_SUBSCRIPTION
from broker_core.protocol.headers import routes as headers
from broker_core.remoting import Connection, ConnectionClosed, Handler
from broker_core.remoting.connection import Result

_log = logging.getLogger(__name__)

_FAQ: Final = "Check that the topic was created and has brokers, and that the client uses the right name server."

_VERSION_BYTES: Final = 1024
"""The limit on a version that is not strict JSON, which takes long to read: it is three numbers."""
_LONG_BYTES: Final = 256 * 1024
"""A longer registration is read in a thread: that of 1,500 topics takes 15 ms, and that of 100,000 a second."""
_CONFIGURATION_BYTES: Final = 64 * 1024
"""A configuration to change. RocketMQ's whole one has 4 KB, and 20 MB take 12 s to read."""


class Handlers:
    """One method per request code; `table` maps codes to methods. `clock` returns milliseconds."""

    def __init__(self, routes: RouteTable, settings: Settings, options: Options, clock: Callable[[], int]) -> None:
        self._routes = routes
        self._settings = settings
        self._options = options
        self._clock = clock
        self._readers: dict[Connection, RegistrationReader] = {}
        self._reached: set[str] = set()
        self._reading: Counter[Connection] = Counter()  # those with registrations that are read, or wait for it
        self._long = asyncio.Lock()

    def table(self) -> dict[RequestCode, Handler]:
        """Return the handler of each request code that a name server serves."""
        code = RequestCode
        return {
            code.REGISTER_BROKER: self.register,
            code.UNREGISTER_BROKER: self.unregister,
            code.QUERY_DATA_VERSION: self.query_data_version,
            code.GET_ROUTEINFO_BY_TOPIC: self.route,
            code.GET_BROKER_CLUSTER_INFO: self.cluster_info,
            code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self.all_topics,
            code.GET_TOPICS_BY_CLUSTER: self.topics_of_cluster,
            code.GET_SYSTEM_TOPIC_LIST_FROM_NS: self.system_topics,
            code.GET_UNIT_TOPIC_LIST: self.unit_topics,
            code.GET_HAS_UNIT_SUB_TOPIC_LIST: self.unit_subscribed_topics,
            code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: self.unit_subscribed_plain_topics,
            code.DELETE_TOPIC_IN_NAMESRV: self.delete_topic,
            code.WIPE_WRITE_PERM_OF_BROKER: self.take_write_permission,
            code.ADD_WRITE_PERM_OF_BROKER: self.give_write_permission,
            code.PUT_KV_CONFIG: self.put_setting,
            code.GET_KV_CONFIG: self.get_setting,
            code.DELETE_KV_CONFIG: self.delete_setting,
            code.GET_KVLIST_BY_NAMESPACE: self.list_settings,
            code.UPDATE_NAMESRV_CONFIG: self.update_config,
            code.GET_NAMESRV_CONFIG: self.get_config,
        }

    # Brokers

    def register(self, request: Command, connection: Connection) -> Result:
        """Register a broker and its topics; a slave gets the address of its master."""
        header = request.header(headers.RegisterBrokerRequest)
        if header.body_crc32 and header.body_crc32 != checksum(request.body):
            return Command.response(ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
        check_names(header.broker_name, header.cluster_name, header.broker_addr, *filter(None, [header.ha_server_addr]))
        reader = self._reader(connection)
        if len(request.body) > _LONG_BYTES or header.compressed or connection in self._reading:
            self._reading[connection] += 1
            return self._registered_in_turn(header, request.body, reader, connection)
        try:
            return self._registered(header, self._read(header, request.body, reader), connection)
        except LimitReached as reached:
            return self._refused(reached)

    async def _registered_in_turn(
        self, header: headers.RegisterBrokerRequest, data: bytes, reader: RegistrationReader, connection: Connection
    ) -> Command:
        """Read a long registration in a thread, one at a time; those of one connection keep their order."""
        try:
            async with self._long:
                body = await asyncio.to_thread(self._read, header, data, reader)
                if connection.is_closing:  # what it holds has been forgotten, and nobody would forget this
                    raise ConnectionClosed(connection.peer, connection.close_reason)
                return self._registered(header, body, connection)
        except LimitReached as reached:
            return self._refused(reached)
        finally:
            self._reading[connection] -= 1
            if self._reading[connection] <= 0:
                del self._reading[connection]

    def _read(
        self, header: headers.RegisterBrokerRequest, data: bytes, reader: RegistrationReader
    ) -> RegisterBrokerBody | None:
        def check_topics(count: int) -> None:
            self._routes.limits.check("routes_per_broker", count, f"broker {header.broker_name!r} was not registered")

        body = reader.read(data, compressed=header.compressed, check_topics=check_topics)
        return body if data else None

    def _registered(
        self, header: headers.RegisterBrokerRequest, body: RegisterBrokerBody | None, connection: Connection
    ) -> Command:
        wrapper = body.topic_config_serialize_wrapper if body else None
        broker = Registration(
            cluster=header.cluster_name,
            broker_name=header.broker_name,
            broker_id=header.broker_id,
            address=header.broker_addr,
            ha_address=header.ha_server_addr,
            data_version=wrapper.data_version if wrapper else None,
            topics=wrapper.topic_config_table if wrapper else None,
        )
        master = self._routes.register(broker, holder=connection, now=self._clock())
        _log.debug("broker=%s id=%d %s: registered", broker.broker_name, broker.broker_id, broker.address)
        answer = headers.RegisterBrokerResponse(master.ha_address, master.address) if master else None
        return Command.response(
            ResponseCode.SUCCESS, answer or headers.RegisterBrokerResponse(), self._settings_body(ORDER_TOPIC_CONFIG)
        )

    def unregister(self, request: Command, _: Connection) -> Command:
        """Remove a broker that unregisters."""
        header = request.header(headers.UnregisterBrokerRequest)
        check_names(header.broker_name, header.cluster_name, header.broker_addr)
        self._routes.unregister(header.broker_name, header.broker_id, header.broker_addr)
        _log.info("broker=%s id=%d %s: unregistered", header.broker_name, header.broker_id, header.broker_addr)
        return Command.response(ResponseCode.SUCCESS)

    def query_data_version(self, request: Command, _: Connection) -> Command:
        """Return whether a broker has to register again; an unchanged version counts as a heartbeat."""
        header = request.header(headers.QueryDataVersionRequest)
        version = bodies.decode(bodies.DataVersion, request.body, _VERSION_BYTES)
        changed, known = self._routes.touch(header.broker_addr, version, now=self._clock())
        body = bodies.encode(known) if known else b""
        return Command.response(ResponseCode.SUCCESS, headers.QueryDataVersionResponse(changed), body)

    # Routes

    def route(self, request: Command, _: Connection) -> Command:
        """Return the route of a topic."""
        header = request.header(headers.GetRouteInfoRequest)
        route = self._routes.find_route(header.topic)
        if route is None:
            remark = f"No topic route info in name server for the topic: {header.topic}\n{_FAQ}"
            return Command.response(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        if self._options.config.order_message_enable:
            order = self._settings.find(ORDER_TOPIC_CONFIG, header.topic)
            route = bodies.TopicRouteData(route.broker_datas, route.queue_datas, route.filter_server_table, order)
        is_strict = request.version >= STRICT_JSON_VERSION or header.accept_standard_json_only
        return _success((bodies.encode_strict if is_strict else bodies.encode)(route))

    def cluster_info(self, _: Command, __: Connection) -> Command:
        """Return all clusters and brokers; map keys are bare numbers for every reader."""
        return _success(bodies.encode(self._routes.clusters()))

    def all_topics(self, _: Command, __: Connection) -> Command:
        """Return all topics."""
        return _topics(self._routes.topics())

    def topics_of_cluster(self, request: Command, _: Connection) -> Command:
        """Return the topics of one cluster."""
        return _topics(self._routes.topics_of_cluster(request.header(headers.GetTopicsByClusterRequest).cluster))

    def system_topics(self, _: Command, __: Connection) -> Command:
        """Return cluster and broker names, with the address of one broker to query for more."""
        return _success(bodies.encode(bodies.TopicList(self._routes.names(), self._routes.any_address())))

    def unit_topics(self, _: Command, __: Connection) -> Command:
        """Return the topics of units."""
        return _topics(self._routes.topics_where(lambda flag: bool(flag & TOPIC_UNIT)))

    def unit_subscribed_topics(self, _: Command, __: Connection) -> Command:
        """Return the topics that units subscribe to."""
        return _topics(self._routes.topics_where(lambda flag: bool(flag & TOPIC_UNIT_SUBSCRIPTION)))

    def unit_subscribed_plain_topics(self, _: Command, __: Connection) -> Command:
        """Return the topics that units subscribe to and that belong to no unit."""
        both = TOPIC_UNIT | TOPIC_UNIT_SUBSCRIPTION
        return _topics(self._routes.topics_where(lambda flag: flag & both == TOPIC_UNIT_SUBSCRIPTION))

    def delete_topic(self, request: Command, _: Connection) -> Command:
        """Delete a topic's routes."""
        header = request.header(headers.DeleteTopicInNameServerRequest)
        self._routes.delete_topic(header.topic, header.cluster_name)
        return Command.response(ResponseCode.SUCCESS)

    def take_write_permission(self, request: Command, _: Connection) -> Command:
        """Remove the write permission from all topics of a broker name."""
        count = self._routes.take_write_permission(request.header(headers.WipeWritePermRequest).broker_name)
        return Command.response(ResponseCode.SUCCESS, headers.WipeWritePermResponse(count))

    def give_write_permission(self, request: Command, _: Connection) -> Command:
        """Give all topics of a broker name read and write permission."""
        count = self._routes.give_write_permission(request.header(headers.AddWritePermRequest).broker_name)
        return Command.response(ResponseCode.SUCCESS, headers.AddWritePermResponse(count))

    # Settings

    async def put_setting(self, request: Command, _: Connection) -> Command:
        """Save a setting."""
        header = request.header(headers.PutKvConfigRequest)
        try:
            await self._settings.put(header.namespace, header.key, header.value)
        except LimitReached as reached:
            return self._refused(reached)
        return Command.response(ResponseCode.SUCCESS)

    def get_setting(self, request: Command, _: Connection) -> Command:
        """Return a setting."""
        header = request.header(headers.GetKvConfigRequest)
        value = self._settings.find(header.namespace, header.key)
        if value is None:
            return _not_found(f"No config item, Namespace: {header.namespace} Key: {header.key}")
        return Command.response(ResponseCode.SUCCESS, headers.GetKvConfigResponse(value))

    async def delete_setting(self, request: Command, _: Connection) -> Command:
        """Delete a setting."""
        header = request.header(headers.DeleteKvConfigRequest)
        await self._settings.delete(header.namespace, header.key)
        return Command.response(ResponseCode.SUCCESS)

    def list_settings(self, request: Command, _: Connection) -> Command:
        """Return all settings of a namespace."""
        namespace = request.header(headers.GetKvListByNamespaceRequest).namespace
        body = self._settings_body(namespace)
        return _success(body) if body else _not_found(f"No config item, Namespace: {namespace}")

    def get_config(self, _: Command, __: Connection) -> Command:
        """Return the name server's own configuration as lines of ``key=value``."""
        return _success(java_properties.dump(self._options.texts()))

    async def update_config(self, request: Command, _: Connection) -> Command:
        """Change settings that can be changed at run time; an unknown name is refused."""
        if len(request.body) > _CONFIGURATION_BYTES:
            remark = f"a configuration of {len(request.body)} bytes: {_CONFIGURATION_BYTES} are the most"
            return Command.response(ResponseCode.INVALID_PARAMETER, remark=remark)
        try:
            await self._options.update(java_properties.parse(request.body))
        except OptionFixed as error:
            return Command.response(ResponseCode.NO_PERMISSION, remark=str(error))
        except OptionRefused as error:
            return Command.response(ResponseCode.INVALID_PARAMETER, remark=str(error))
        return Command.response(ResponseCode.SUCCESS)

    def _refused(self, reached: LimitReached) -> Command:
        if reached.limit not in self._reached:
            self._reached.add(reached.limit)
            _log.warning("%s; of this limit nothing more is logged", reached)
        return Command.response(ResponseCode.SYSTEM_ERROR, remark=str(reached))

    def _reader(self, connection: Connection) -> RegistrationReader:
        """Return the registration reader of `connection`; when the connection closes, its brokers are removed."""
        reader = self._readers.get(connection)
        if reader is None:
            reader = self._readers[connection] = RegistrationReader()
            connection.on_close(self._forget)
        return reader

    def _forget(self, connection: Connection) -> None:
        self._readers.pop(connection, None)
        self._reading.pop(connection, None)
        self._routes.forget_holder(connection)

    def _settings_body(self, namespace: str) -> bytes:
        texts = self._settings.find_namespace(namespace)
        return b"" if texts is None else bodies.encode(bodies.KVTable(texts))


def _success(body: bytes) -> Command:
    return Command.response(ResponseCode.SUCCESS, body=body)


def _topics(names: list[str]) -> Command:
    return _success(bodies.encode(bodies.TopicList(names)))


def _not_found(remark: str) -> Command:
    return Command.response(ResponseCode.QUERY_NOT_FOUND, remark=remark)
