//! [`Whyslow`]: the protocol's requests, and who answers each.

use crate::allowed::Allowed;
use crate::captures::Captures;
use crate::caught::caught;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::tools::{self, Name, Place};
use crate::{prompts, reports};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::path::PathBuf;
use std::sync::Arc;
use whyslow_report::words::Lang;

/// The claims that an assistant may make, and the source of each.
pub const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// The server; clients of one run share the captures that are open.
#[derive(Clone, Debug)]
pub(crate) struct Whyslow(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    captures: Captures,
    lang: Lang,
    allowed: Allowed,
    program: PathBuf,
    tools: Vec<Tool>,
}

impl Whyslow {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { folders, lang, allowed, program } = settings;
        let tools = tools::list(allowed);
        Self(Arc::new(Inner { captures: Captures::new(folders), lang, allowed, program, tools }))
    }

    fn place(&self) -> Place<'_> {
        let Inner { captures, lang, allowed, program, .. } = &*self.0;
        Place { captures, lang: *lang, allowed: *allowed, program }
    }
}

impl ServerHandler for Whyslow {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let mut server = Implementation::new("whyslow", env!("CARGO_PKG_VERSION"));
        server.title = Some("whyslow: why TCP transfers are slow".to_owned());
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Name::read(&request.name) else {
            let known: Vec<_> = self.0.tools.iter().map(|tool| &*tool.name).collect();
            let name: String = request.name.chars().take(100).collect();
            let message = format!("there is no tool `{name}`; there are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let called = caught(tools::call(tool, request.arguments, self.place(), &context)).await;
        let result = called.map_or_else(CallToolResult::from, CallToolResult::from);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(reports::list(&self.0.captures)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(reports::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = reports::read(&request.uri, &self.0.captures, self.0.lang, &context);
        let contents = caught(read).await.map_err(|failure| ErrorData::resource_not_found(failure.text(), None))?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let refused = |failure: Failure| ErrorData::invalid_params(failure.text(), None);
        Ok(prompts::get(&request, self.0.lang).map_err(refused)?.into())
    }

    /// Names of captures, for the arguments `file` of the prompt and of the resources.
    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let names = match request.argument.name.as_str() {
            "file" => self.0.captures.folders().captures(&request.argument.value, CompletionInfo::MAX_VALUES),
            _ => Vec::new(),
        };
        let completion = CompletionInfo::new(names).map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(completion))
    }
}
